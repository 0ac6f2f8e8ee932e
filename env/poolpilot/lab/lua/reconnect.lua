-- A connection for every request: login, one point select, good-bye.

local client = require("client")

sysbench.cmdline.options = {
   tables = {"Number of sbtest tables", 1},
   table_size = {"Rows of each", 10000}
}

function thread_init()
   drv = sysbench.sql.driver()
end

function thread_done()
end

function event()
   local id = sysbench.rand.default(1, sysbench.opt.table_size)
   local tables = sysbench.rand.uniform(1, sysbench.opt.tables)
   local session = drv:connect()
   session:query(string.format("SELECT c FROM sbtest%d WHERE id = %d", tables, id))
   session:disconnect()
end

client.measure()

-- One short range read, answered from memory.

local client = require("client")

sysbench.cmdline.options = {
   tables = {"Number of sbtest tables", 1},
   table_size = {"Rows of each", 10000},
   rows = {"Rows that a request reads", 20}
}

function event()
   local first = sysbench.rand.default(1, sysbench.opt.table_size)
   local tables = sysbench.rand.uniform(1, sysbench.opt.tables)
   con:query(string.format("SELECT SUM(k) FROM sbtest%d WHERE id BETWEEN %d AND %d", tables, first,
                           first + sysbench.opt.rows - 1))
end

client.measure()

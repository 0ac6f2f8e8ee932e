-- A logical dump in chunks: every row of every table in the order of its key, again and again.

local client = require("client")

sysbench.cmdline.options = {
   tables = {"Number of sbtest tables", 1},
   table_size = {"Rows of each", 10000},
   rows = {"Rows of a chunk", 20000}
}

local tables, first

function event()
   -- Threads begin at different places, as dumps of different tables do.
   if not first then tables, first = 1 + sysbench.tid % sysbench.opt.tables, 1 end
   con:query(string.format("SELECT SQL_NO_CACHE * FROM sbtest%d WHERE id BETWEEN %d AND %d", tables, first,
                           first + sysbench.opt.rows - 1))
   first = first + sysbench.opt.rows
   if first > sysbench.opt.table_size then tables, first = 1 + tables % sysbench.opt.tables, 1 end
end

client.measure()

-- Long queries that keep a worker on the CPU and report no wait to the pool.

local client = require("client")

sysbench.cmdline.options = {
   tables = {"Number of sbtest tables", 1},
   table_size = {"Rows of each", 10000},
   query = {"scan, sort, group, join or digest", "scan"},
   rows = {"Rows that a query reads; rounds of a digest", 10000},
   passes = {"How often it goes over them", 1}
}

local QUERIES = {
   scan = "SELECT SUM(k + LENGTH(c) + CRC32(pad)) FROM sbtest%d, seq_1_to_%d WHERE id BETWEEN %d AND %d",
   sort = "SELECT c FROM sbtest%d, seq_1_to_%d WHERE id BETWEEN %d AND %d ORDER BY REVERSE(c), pad LIMIT 1",
   group = "SELECT LEFT(c, 3) AS head, COUNT(*), MAX(pad) FROM sbtest%d, seq_1_to_%d WHERE id BETWEEN %d AND %d " ..
      "GROUP BY head ORDER BY 2 DESC LIMIT 1",
   join = "SELECT COUNT(*) FROM (sbtest%d a, seq_1_to_%d) JOIN sbtest1 b ON b.id = a.id + 1 " ..
      "WHERE a.id BETWEEN %d AND %d AND a.k <> b.k"
}

function event()
   local rows = sysbench.opt.rows
   if sysbench.opt.query == "digest" then
      con:query(string.format("SELECT BENCHMARK(%d, SHA2('%d', 256))", rows, sysbench.rand.default(1, 1000000)))
      return
   end
   local first = sysbench.rand.uniform(1, math.max(sysbench.opt.table_size - rows, 1))
   local tables = sysbench.rand.uniform(1, sysbench.opt.tables)
   con:query(string.format(QUERIES[sysbench.opt.query], tables, sysbench.opt.passes, first, first + rows - 1))
end

client.measure()

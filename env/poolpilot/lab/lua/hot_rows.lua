-- Updates of a few rows that everybody wants: transactions collide on their locks.

local client = require("client")

sysbench.cmdline.options = {
   table_size = {"Rows of sbtest1", 10000},
   rows = {"Rows that are fought over", 20},
   updates = {"Rows that a transaction updates", 2},
   round_trip_ms = {"Milliseconds between two statements of a transaction, as over a network", 0.0}
}

local function travel()
   if sysbench.opt.round_trip_ms > 0 then client.pause(1e3 * sysbench.opt.round_trip_ms) end
end

-- In rising order, so that transactions wait for one another but never deadlock.
local function drawn()
   local ids = {}
   for number = 1, sysbench.opt.updates do ids[number] = sysbench.rand.uniform(1, sysbench.opt.rows) end
   table.sort(ids)
   return ids
end

function event()
   local ids = drawn()
   if #ids > 1 then con:query("BEGIN") end
   for _, id in ipairs(ids) do
      travel()
      con:query(string.format("UPDATE hot SET hits = hits + 1 WHERE id = %d", id))
   end
   if #ids > 1 then
      travel()
      con:query("COMMIT")
   end
end

client.measure()

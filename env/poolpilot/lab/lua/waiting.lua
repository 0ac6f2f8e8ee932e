-- Requests that mostly wait, and tell the pool so.

local client = require("client")

sysbench.cmdline.options = {
   sleep_ms = {"Milliseconds that a request sleeps", 5.0}
}

function event()
   con:query(string.format("SELECT SLEEP(%.6f)", sysbench.opt.sleep_ms / 1000))
end

client.measure()

-- One user lock of a few that everybody wants, held while the server sleeps; both waits are told to the pool.

local client = require("client")

sysbench.cmdline.options = {
   locks = {"User locks to choose from", 8},
   hold_ms = {"Milliseconds that one is held", 2.0}
}

function event()
   local name = sysbench.rand.uniform(1, sysbench.opt.locks)
   con:query(string.format("SELECT GET_LOCK('lock%d', 60), SLEEP(%.6f), RELEASE_LOCK('lock%d')", name,
                           sysbench.opt.hold_ms / 1000, name))
end

client.measure()

-- What every load script shares: the ledger of latencies, think time, offered rate and bursts.
--
-- Each thread writes its own slot of a memory-mapped file, so nothing is locked; Python sums the slots
-- (poolpilot/env/lab/ledger.py names the layout). Latency runs from the moment a request was due to its completion:
-- a restarted transaction pays for its first try, and a request that is late because the one before it was slow
-- pays for that too where a rate is offered.

local ffi = require("ffi")
local bursts = require("bursts")

ffi.cdef [[
   typedef struct { int64_t seconds; int64_t nanoseconds; } pp_timespec;
   int clock_gettime(int clock, pp_timespec *now);
   int clock_nanosleep(int clock, int flags, const pp_timespec *until, pp_timespec *left);
   int open(const char *path, int flags, ...);
   int close(int descriptor);
   void *mmap(void *address, size_t length, int protection, int flags, int descriptor, int64_t offset);
]]

local MONOTONIC, ABSOLUTE = 1, 1
local READ_WRITE, SHARED, PROTECT_READ_WRITE = 2, 1, 3

-- The layout of a slot, in 8-byte words: requests tried again, requests given up before they were sent, sum and sum of
-- squares in microseconds, then the buckets.
local SUB_BUCKET_BITS, OCTAVES = 4, 36
local BUCKETS = (OCTAVES + 1) * 2 ^ SUB_BUCKET_BITS
local RESTARTED, GIVEN_UP, TOTAL, SQUARES, HEAD_WORDS = 0, 1, 2, 3, 4
local SLOT_WORDS = HEAD_WORDS + BUCKETS

local options = {
   ledger = {"File that takes the latencies; Python makes it", ""},
   think_ms = {"Mean pause between a response and the next request, exponential", 0.0},
   rate_per_s = {"Requests offered a second over all connections, Poisson; 0 is a closed loop", 0.0},
   patience_ms = {"Where a rate is offered: a request that could not be sent so long after it was due is given up", 250.0},
   burst_period_s = {"Seconds from one burst to the next; 0 is an even load", 0.0},
   burst_share = {"Share of that time that a burst lasts; between bursts connections rest", 0.5},
   burst_offset = {"Share of that time after which a burst begins", 0.0}
}

local client = {}

local slot, spec, due_us, within_burst, after

local function now_us()
   ffi.C.clock_gettime(MONOTONIC, spec)
   return tonumber(spec.seconds) * 1e6 + tonumber(spec.nanoseconds) / 1e3
end

local function sleep_until(when_us)
   local seconds = math.floor(when_us / 1e6)
   spec.seconds = seconds
   spec.nanoseconds = math.floor((when_us - seconds * 1e6) * 1e3)
   while ffi.C.clock_nanosleep(MONOTONIC, ABSOLUTE, spec, nil) ~= 0 do end
end

local function exponential(mean)
   return -mean * math.log(1 - sysbench.rand.uniform_double())
end

local function bucket_of(us)
   local whole = math.floor(us)
   local _, bits = math.frexp(whole)
   local octave = bits - SUB_BUCKET_BITS
   if whole == 0 or octave <= 0 then return whole end
   local sub_buckets = 2 ^ SUB_BUCKET_BITS
   return math.min(octave * sub_buckets + math.floor(whole / 2 ^ (octave - 1)) - sub_buckets, BUCKETS - 1)
end

local function record(us)
   slot[TOTAL] = slot[TOTAL] + us
   slot[SQUARES] = slot[SQUARES] + us * us
   local place = HEAD_WORDS + bucket_of(us)
   slot[place] = slot[place] + 1
end

local function gap_us()
   return exponential(1e6 * sysbench.opt.threads / sysbench.opt.rate_per_s)
end

-- When the next request is due: a pause after now or, where a rate is offered, a gap of bursts after the one before.
local function next_due_us()
   if sysbench.opt.rate_per_s > 0 then
      local oldest_us = now_us() - 1e3 * sysbench.opt.patience_ms
      local next_us = after(due_us, gap_us())
      while next_us < oldest_us do
         slot[GIVEN_UP] = slot[GIVEN_UP] + 1
         next_us = after(next_us, gap_us())
      end
      return next_us
   end
   local pause_us = sysbench.opt.think_ms > 0 and exponential(1e3 * sysbench.opt.think_ms) or 0
   return within_burst(now_us() + pause_us)
end

local function attach()
   spec = ffi.new("pp_timespec")
   local descriptor = ffi.C.open(sysbench.opt.ledger, READ_WRITE)
   assert(descriptor >= 0, "cannot open the ledger " .. sysbench.opt.ledger)
   local bytes = sysbench.opt.threads * SLOT_WORDS * 8
   local base = ffi.C.mmap(nil, bytes, PROTECT_READ_WRITE, SHARED, descriptor, 0)
   assert(ffi.cast("intptr_t", base) ~= -1, "cannot map the ledger " .. sysbench.opt.ledger)
   ffi.C.close(descriptor)
   slot = ffi.cast("double *", base) + sysbench.tid * SLOT_WORDS
   local period_us = 1e6 * sysbench.opt.burst_period_s
   within_burst, after = bursts.of(period_us, sysbench.opt.burst_share, sysbench.opt.burst_offset)
   due_us = now_us()
   due_us = sysbench.opt.rate_per_s > 0 and after(due_us, gap_us()) or within_burst(due_us)
end

-- Waits within a request, from now on.
function client.pause(us)
   sleep_until(now_us() + us)
end

function client.connect()
   drv = sysbench.sql.driver()
   con = drv:connect()
end

function client.disconnect()
   con:disconnect()
end

-- Puts the ledger around the script's thread_init and event; called at the end of a script. A script that has no
-- thread_init of its own gets one connection a thread.
function client.measure()
   sysbench.cmdline.options = sysbench.cmdline.options or {}
   for name, option in pairs(options) do sysbench.cmdline.options[name] = option end

   local init, work, restarted = thread_init or client.connect, event, sysbench.hooks.before_restart_event
   thread_done = thread_done or client.disconnect
   function thread_init()
      init()
      attach()
   end
   function event()
      if now_us() < due_us then sleep_until(due_us) end
      work()
      record(now_us() - due_us)
      due_us = next_due_us()
   end
   function sysbench.hooks.before_restart_event(error)
      slot[RESTARTED] = slot[RESTARTED] + 1
      if restarted then restarted(error) end
   end
end

return client

-- When bursts are, in microseconds; those of all connections coincide.

local bursts = {}

-- Makes the two functions that a load goes by, for a period, the share of it that a burst lasts and the share after
-- which it begins. Without a period all time is one burst.
function bursts.of(period_us, share, offset)
   if period_us <= 0 then
      return function(us) return us end, function(us, gap_us) return us + gap_us end
   end
   local burst_us = share * period_us

   -- Begin of the burst that a moment lies in, or of the next one, and how far into it that is.
   local function place(us)
      local into_us = (us - offset * period_us) % period_us
      local begin_us = us - into_us
      if into_us < burst_us then return begin_us, into_us end
      return begin_us + period_us, 0
   end

   -- The next moment inside a burst, from a moment.
   local function within(us)
      local begin_us, into_us = place(us)
      return begin_us + into_us
   end

   -- The moment that comes a gap after another one, the time between bursts not counted: what did not come before a
   -- burst's end comes as long after the next one's begin, and not with all others at its begin.
   local function after(us, gap_us)
      local begin_us, into_us = place(us)
      local whole = math.floor((into_us + gap_us) / burst_us)
      return begin_us + into_us + gap_us + whole * (period_us - burst_us)
   end

   return within, after
end

return bursts

"""What became of predictions: reported by clients, kept as JSON lines, read in staging.

The protocol. An outcome is one line of JSON in a segment, `outcomes-00000001.jsonl` and so on in one folder:

1. A process writes to segments that it has made itself, the first one when there is a first line.
2. A line is written with one `write`, then `fsync`ed; only then is the report acknowledged. So what was acknowledged
   survives the death of the process and, as far as the disk keeps its word, a loss of power.
3. Where either fails, the segment is cut back to what was acknowledged and the report is refused; the client may report
   again. A segment whose `fsync` failed is not written again: what the kernel still holds of it is not known.
4. A line that would make a segment longer than the limit begins the next one.
5. Lines have identifiers that clients choose. A repeat of one that is in the folder is acknowledged and not written;
   another outcome under its identifier is refused.
6. Whoever opens the folder to write holds the lock on `.lock`, cuts off the end of a segment that is no whole line, as
   nobody was told that it is there, and says so in the log.
7. Readers need no lock: what does not end with a newline is not there yet.

Several writers have a folder each, `replica-001` and so on, which is as any other; what two of them were told is read
once, and who reads is told where they were told otherwise of one identifier.

Segments are never deleted here. Who has moved one away may be sent its outcomes again.
"""

// Whoever simulates plays the demo streams.
@_exported public import LatchkeyMedia

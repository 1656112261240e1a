// Simulations play the demo streams.
@_exported public import LatchkeyMedia

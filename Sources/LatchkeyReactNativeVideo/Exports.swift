// An app imports its player's adapter alone: the bridge, the loader and their values come along.
@_exported public import LatchkeyAVFoundation

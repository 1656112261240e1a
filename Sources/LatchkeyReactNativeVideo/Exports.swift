// An app imports only its player's adapter, which includes the bridge, the loader and their values.
@_exported public import LatchkeyAVFoundation

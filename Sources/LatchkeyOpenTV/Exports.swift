// An app imports only its player's adapter, which includes the loader and its values.
@_exported public import Latchkey

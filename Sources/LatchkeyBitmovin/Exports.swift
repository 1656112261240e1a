// An app imports its player's adapter alone: the loader and its values come along.
@_exported public import Latchkey

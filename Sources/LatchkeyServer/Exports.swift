// The types of this module stand in the server's own API, so that a user needs one import only.
@_exported public import LatchkeyCore

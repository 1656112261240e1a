// The types of this module stand in the services' own API, so that a user needs one import only.
@_exported public import LatchkeyServer

// The modules that a test of a server needs: replies, JSON, folders and clocks, and stores that go down.
@_exported public import LatchkeyCore
@_exported public import LatchkeyForms
@_exported public import LatchkeyTesting
@_exported public import SwitchedStores

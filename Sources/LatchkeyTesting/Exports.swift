// `VirtualTime`, which the tools use too.
@_exported public import LatchkeyVirtualTime

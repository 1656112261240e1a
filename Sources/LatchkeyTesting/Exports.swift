// `VirtualTime`, which the tools use too.

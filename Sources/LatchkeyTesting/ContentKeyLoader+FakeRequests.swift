@_spi(Adapters) public import Latchkey

// A player's API for a loader is the adapters' SPI. With these, an app's tests need no SPI.
@_spi(Adapters) extension FakeKeyRequest: PlayerKeyRequest {}
@_spi(Adapters) extension FakePersistableRequest: PersistableKeyRequest {}

extension ContentKeyLoader {
    /// Takes a fake player's key request and ends it exactly once. Returns immediately.
    @discardableResult
    public func answer(_ request: FakeKeyRequest) -> KeyRequest { take(request) }

    /// Takes a fake player's request for a key that is stored, and ends it exactly once. Returns immediately.
    @discardableResult
    public func answer(_ request: FakePersistableRequest) -> KeyRequest { take(request) }

    /// In a generic function the call below is the loader's own.
    private func take(_ request: some PlayerKeyRequest) -> KeyRequest { answer(request) }
}

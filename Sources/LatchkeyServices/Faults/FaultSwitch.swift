import LatchkeyCore

/// Makes a service misbehave, one endpoint at a time. Any task may set it while the service runs.
public final class FaultSwitch: Sendable {
    /// The number of requests for which a fault lasts.
    public enum Span: Sendable, Hashable {
        /// Until it is cleared.
        case always
        /// For a number of requests.
        case first(Int)
    }

    private struct Setting {
        let fault: Fault
        var span: Span
    }

    private let settings = Locked<[ServiceEndpoint: Setting]>([:])

    /// Makes a switch without faults.
    public init() {}

    /// Sets the fault of an endpoint, replacing any previous one.
    public func set(_ fault: Fault, at endpoint: ServiceEndpoint, for span: Span = .always) {
        settings.withLock { $0[endpoint] = Setting(fault: fault, span: span) }
    }

    /// Removes all faults.
    public func clear() { settings.withLock { $0 = [:] } }

    /// The fault of the next request to an endpoint.
    func next(at endpoint: ServiceEndpoint) -> Fault? {
        settings.withLock { settings in
            guard let setting = settings[endpoint] else { return nil }
            guard case .first(let count) = setting.span else { return setting.fault }
            settings[endpoint] = count > 1 ? Setting(fault: setting.fault, span: .first(count - 1)) : nil
            return count > 0 ? setting.fault : nil
        }
    }
}

import LatchkeyCore

/// A validity as its bounds, so that any two can be compared and combined.
struct ValidityBounds: Sendable, Hashable {
    /// The time within which the key is renewed; `nil` without a limit.
    var lease: Duration?
    /// The time within which playback starts; `nil` without a limit.
    var rental: Duration?
    /// Whether the key may be stored.
    var isStored = false
    /// For how long; `nil` without a limit.
    var storage: Duration?
    /// How long a stored key plays after its first play; `nil` without a limit.
    var playback: Duration?

    init(_ validity: LicenseTerms.Validity) {
        switch validity {
        case .unlimited: break
        case .lease(let lease): self.lease = lease
        case .rental(let rental): self.rental = rental
        case .leaseAndRental(let lease, let rental): (self.lease, self.rental) = (lease, rental)
        case .persistent: isStored = true
        case .persistentFor(let storage): (isStored, self.storage) = (true, storage)
        case .dualExpiry(let storage, let playback): (isStored, self.storage, self.playback) = (true, storage, playback)
        }
    }

    /// The bounds without storage: a key that may be stored for a time may be played from the network within it.
    var withoutStorage: ValidityBounds {
        guard isStored else { return self }
        var bounds = ValidityBounds(.unlimited)
        bounds.rental = storage
        return bounds
    }

    /// The stricter of each bound. A key is stored only if both let it.
    func narrowed(to other: ValidityBounds) -> ValidityBounds {
        guard isStored, other.isStored else {
            var bounds = ValidityBounds(.unlimited)
            let (one, other) = (withoutStorage, other.withoutStorage)
            bounds.lease = Self.smaller(one.lease, other.lease)
            bounds.rental = Self.smaller(one.rental, other.rental)
            return bounds
        }
        var bounds = self
        bounds.storage = Self.smaller(storage, other.storage)
        bounds.playback = Self.smaller(playback, other.playback)
        return bounds
    }

    /// The bounds with an end: nothing may be used for longer.
    func ending(after remaining: Duration) -> ValidityBounds {
        var bounds = self
        if isStored {
            bounds.storage = Self.smaller(storage, remaining)
            bounds.playback = playback.map { min($0, remaining) }
        } else {
            bounds.lease = Self.smaller(lease, remaining)
            bounds.rental = rental.map { min($0, remaining) }
        }
        return bounds
    }

    /// The validity that states the bounds.
    var validity: LicenseTerms.Validity {
        if isStored {
            guard let storage = storage ?? playback.map({ _ in Duration.longest }) else { return .persistent }
            return playback.map { .dualExpiry(storage: storage, playback: $0) } ?? .persistentFor(storage)
        }
        return switch (lease, rental) {
        case (nil, nil): .unlimited
        case (let lease?, nil): .lease(lease)
        case (nil, let rental?): .rental(rental)
        case (let lease?, let rental?): .leaseAndRental(lease: lease, rental: rental)
        }
    }

    private static func smaller(_ one: Duration?, _ other: Duration?) -> Duration? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}

extension LicenseTerms.Validity {
    /// The stricter of both, bound by bound.
    func narrowed(to other: Self) -> Self { ValidityBounds(self).narrowed(to: ValidityBounds(other)).validity }
}

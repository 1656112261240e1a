package import LatchkeyForms

/// How much of an address is kept where a whole one would name a person, or would let one client be many.
package struct AddressCut: Sendable, Hashable {
    /// How many bits of an IPv4 address are kept.
    package let four: Int
    /// How many bits of an IPv6 address are kept.
    package let six: Int

    /// - Parameters:
    ///   - four: how many bits of an IPv4 address are kept, 0 to 32.
    ///   - six: how many bits of an IPv6 address are kept, 0 to 128.
    package init(four: Int, six: Int) {
        self.four = four
        self.six = six
    }

    /// For logs: /24 and /48.
    package static let logs = AddressCut(four: 24, six: 48)
    /// For rate limits: /24, and /56, which is the least that a provider gives a household.
    package static let limits = AddressCut(four: 24, six: 56)
    /// One network: an IPv4 address as it is, and /64.
    package static let network = AddressCut(four: 32, six: 64)

    /// The range that contains an address.
    package func range(of address: AddressRange) -> AddressRange {
        AddressRange(around: address, four: four, six: six)
    }
}

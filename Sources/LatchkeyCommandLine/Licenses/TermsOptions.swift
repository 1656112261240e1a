import LatchkeyCore
import LatchkeyTerminal

/// The options that state the terms of a license.
struct TermsOptions: Sendable {
    private let lease = Option("lease", .seconds(), "the key has to be renewed within this time")
    private let rental = Option("rental", .seconds(), "playback has to start within this time")
    private let persist = Option(
        "persist", .seconds(from: 0), "the key may be stored for this time, for 0 without limit")
    private let hdcp = Option(
        "hdcp", .choice(["none": HDCPRequirement.notRequired, "0": .type0, "1": .type1]),
        "the required protection of the display: none, HDCP type 0, or type 1")

    var options: [any Parameter] { [lease, rental, persist, hdcp] }

    /// For a verb's help.
    static let details = """
        Without terms the key may be used as long as the player holds it. --lease and --rental go together. --persist S with
        --rental P is a stored key with two expiries: S seconds from the download, then P seconds from the first play.
        """

    /// The terms that the options state.
    func terms(_ arguments: Arguments) throws(UsageError) -> LicenseTerms {
        LicenseTerms(try validity(arguments[lease], arguments[rental], arguments[persist]), hdcp: arguments[hdcp])
    }

    private func validity(
        _ lease: Duration?, _ rental: Duration?, _ storage: Duration?
    ) throws(UsageError) -> LicenseTerms.Validity {
        switch (lease, rental, storage) {
        case (nil, nil, nil): .unlimited
        case (let lease?, nil, nil): .lease(lease)
        case (nil, let rental?, nil): .rental(rental)
        case (let lease?, let rental?, nil): .leaseAndRental(lease: lease, rental: rental)
        case (nil, nil, .zero): .persistent
        case (nil, nil, let storage?): .persistentFor(storage)
        case (nil, _?, .zero): throw UsageError("--persist 0 has no end, so --rental cannot follow it.")
        case (nil, let playback?, let storage?): .dualExpiry(storage: storage, playback: playback)
        case (_?, _, _?): throw UsageError("--lease and --persist do not go together: a stored key is not renewed.")
        }
    }
}

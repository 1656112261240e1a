public import LatchkeyCore

/// The terms on which a key is licensed if the request's credentials grant none.
public struct LicensePolicy: Sendable, Hashable {
    /// The terms of every key without specific terms. Defaults to no limit.
    public var standard: LicenseTerms
    /// The terms of single keys.
    public var exceptions: [KeyID: LicenseTerms]

    /// - Parameters:
    ///   - standard: the terms of every key without specific terms.
    ///   - exceptions: the terms of single keys.
    public init(standard: LicenseTerms = LicenseTerms(), exceptions: [KeyID: LicenseTerms] = [:]) {
        self.standard = standard
        self.exceptions = exceptions
    }

    /// The terms of a key.
    public func terms(for id: KeyID) -> LicenseTerms { exceptions[id] ?? standard }
}

/// The version of Latchkey.
package enum LatchkeyVersion {
    /// According to semver.org.
    package static let text = "0.1.0"
}

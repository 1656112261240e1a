/// The version of Latchkey.
package enum LatchkeyVersion {
    /// By semver.org.
    package static let text = "0.1.0"
}

package import Foundation

/// The device that an app runs on, for license services that register devices. Its words are those of THEOplayer's sample, which has them from
/// `UIDevice`; this needs no main actor.
public struct PlaybackDevice: Sendable, Hashable {
    /// `iPhone`, `iPad`, `AppleTV`, `Mac`, or `Unknown`.
    public var kind: String
    /// `iPhone`, `iPad`, `Apple TV`, `Mac`, `Apple Vision Pro`.
    public var model: String
    /// `iOS`, `iPadOS`, `tvOS`, `macOS`, `visionOS`.
    public var system: String
    /// The version of the operating system, such as `18.1`.
    public var systemVersion: String
    /// The version of the app that its users see.
    public var appVersion: String

    /// Makes a device.
    public init(kind: String, model: String, system: String, systemVersion: String, appVersion: String) {
        (self.kind, self.model, self.system) = (kind, model, system)
        (self.systemVersion, self.appVersion) = (systemVersion, appVersion)
    }

    /// - Parameters:
    ///   - machine: the system's name of the hardware, such as `iPad13,4`.
    ///   - version: the version of the operating system. A third number of 0 is left out, as the system does.
    ///   - info: the app's Info.plist.
    package init(machine: String, version: OperatingSystemVersion, info: [String: Any]) {
        let patch = version.patchVersion == 0 ? "" : ".\(version.patchVersion)"
        let (kind, model, system) =
            switch machine.prefix(while: \.isLetter) {
            case "iPhone", "iPod": ("iPhone", "iPhone", "iOS")
            case "iPad": ("iPad", "iPad", "iPadOS")
            case "AppleTV": ("AppleTV", "Apple TV", "tvOS")
            case "RealityDevice": ("Unknown", "Apple Vision Pro", "visionOS")
            case let name where name.contains("Mac"): ("Mac", "Mac", "macOS")
            default: ("Unknown", "Unknown", "iOS")
            }
        self.init(
            kind: kind, model: model, system: system,
            systemVersion: "\(version.majorVersion).\(version.minorVersion)\(patch)",
            appVersion: info["CFBundleShortVersionString"] as? String ?? "")
    }
}

#if canImport(Darwin)
    import Darwin

    extension PlaybackDevice {
        /// This device. In a simulator, the simulated device.
        public static var current: Self {
            let simulated = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"]
            return Self(
                machine: simulated ?? machine, version: ProcessInfo.processInfo.operatingSystemVersion,
                info: Bundle.main.infoDictionary ?? [:])
        }

        private static var machine: String {
            #if os(macOS) || targetEnvironment(macCatalyst)
                let name = "hw.model"
            #else
                let name = "hw.machine"
            #endif
            var bytes = [CChar](repeating: 0, count: 256)
            var size = bytes.count
            guard sysctlbyname(name, &bytes, &size, nil, 0) == 0 else { return "Unknown" }
            return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
#else
    extension PlaybackDevice {
        /// A device of Apple's, for the tools: no app runs here.
        public static let current = Self(
            kind: "iPhone", model: "iPhone", system: "iOS", systemVersion: "17.0", appVersion: "1.0")
    }
#endif

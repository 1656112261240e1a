// swift-tools-version: 6.2
import PackageDescription

// The floors and arrows of CONTRIBUTING.md: a target may depend only on targets of lower floors.
// Warnings are errors in CI (`CI=true`), so that a newer compiler's new warning never stops a user's build.
let strict: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]
let settings: [SwiftSetting] =
    strict + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]

func room(
    _ name: String, _ folder: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(folder)", resources: resources, swiftSettings: settings
    )
}

func tests(_ folder: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: "\(folder)Tests", dependencies: dependencies + ["LatchkeyTesting"], path: "Tests/\(folder)Tests",
        resources: resources, swiftSettings: settings)
}

// A player's SDK: on Linux the stand-in of its name, elsewhere the SDK itself, which is no dependency.
func playerSDK(_ name: String) -> [Target.Dependency] {
    #if os(Linux)
        [.target(name: name, condition: .when(platforms: [.linux]))]
    #else
        []
    #endif
}

let package = Package(
    name: "latchkey",
    platforms: [.iOS(.v16), .tvOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "Latchkey", targets: ["Latchkey"]),
        .library(name: "LatchkeyAVFoundation", targets: ["LatchkeyAVFoundation"]),
        .library(name: "LatchkeyJWPlayer", targets: ["LatchkeyJWPlayer"]),
        .library(name: "LatchkeyTHEOplayer", targets: ["LatchkeyTHEOplayer"]),
        .library(name: "LatchkeyOpenTV", targets: ["LatchkeyOpenTV"]),
        .library(name: "LatchkeyTVSDK", targets: ["LatchkeyTVSDK"]),
        .library(name: "LatchkeyBitmovin", targets: ["LatchkeyBitmovin"]),
        .library(name: "LatchkeyReactNativeVideo", targets: ["LatchkeyReactNativeVideo"]),
        .library(name: "LatchkeyServer", targets: ["LatchkeyServer", "LatchkeyServices"]),
        .library(name: "LatchkeyDevice", targets: ["LatchkeyDevice"]),
        .library(name: "LatchkeyTesting", targets: ["LatchkeyTesting"]),
        .executable(name: "latchkey", targets: ["LatchkeyCommandLine"]),
    ],
    targets: [
        // Floor 0
        room("LatchkeyCore", "Core"),
        .systemLibrary(
            name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CMicroHTTPD", path: "Sources/C/CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        // Floor 1
        room("LatchkeyHLS", "HLS", ["LatchkeyCore"]),
        room("LatchkeyFairPlay", "FairPlay", ["LatchkeyCore", "COpenSSL"]),
        room("LatchkeyHTTP", "HTTP", ["CMicroHTTPD"]),
        // Floor 2
        room("LatchkeyVendors", "Vendors", ["LatchkeyCore"]),
        room("LatchkeyDevice", "Device", ["LatchkeyCore", "LatchkeyFairPlay"]),
        room("LatchkeyPlayback", "Playback", ["LatchkeyCore", "LatchkeyHLS"]),
        // Floor 3
        room("Latchkey", "Client", ["LatchkeyCore", "LatchkeyHLS", "LatchkeyVendors"]),
        room("LatchkeyServer", "Server", ["LatchkeyCore", "LatchkeyFairPlay", "LatchkeyHTTP"]),
        // Floor 4
        room("LatchkeyServices", "Services", ["LatchkeyCore", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyServer"]),
        room(
            "LatchkeySimulation", "Simulation",
            [
                "Latchkey", "LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyHLS", "LatchkeyHTTP",
                "LatchkeyPlayback", "LatchkeyServer", "LatchkeyServices", "LatchkeyVendors",
            ], resources: [.copy("DemoAsset")]),
        room("LatchkeyTesting", "Testing", ["Latchkey", "LatchkeyCore", "LatchkeyVendors"]),
        room(
            "LatchkeyAVFoundation", "Players/AVFoundation",
            ["Latchkey", "LatchkeyCore", "LatchkeyVendors"] + playerSDK("AVFoundation")),
        room(
            "LatchkeyJWPlayer", "Players/JWPlayer",
            ["Latchkey", "LatchkeyCore", "LatchkeyVendors"] + playerSDK("JWPlayerKit") + playerSDK("JWPlayer_iOS_SDK")),
        room(
            "LatchkeyTHEOplayer", "Players/THEOplayer",
            ["Latchkey", "LatchkeyCore", "LatchkeyVendors"] + playerSDK("THEOplayerSDK")),
        room(
            "LatchkeyOpenTV", "Players/OpenTV",
            ["Latchkey", "LatchkeyCore", "LatchkeyVendors"] + playerSDK("OPYSDKFPS") + playerSDK("AVFoundation")),
        room(
            "LatchkeyTVSDK", "Players/TVSDK",
            ["LatchkeyAVFoundation", "Latchkey", "LatchkeyCore", "LatchkeyVendors"] + playerSDK("PSDKLibrary")
                + playerSDK("AVFoundation")),
        room(
            "LatchkeyBitmovin", "Players/Bitmovin",
            ["Latchkey", "LatchkeyCore", "LatchkeyVendors"] + playerSDK("BitmovinPlayer")),
        room(
            "LatchkeyReactNativeVideo", "Players/ReactNativeVideo",
            ["LatchkeyAVFoundation", "Latchkey", "LatchkeyCore", "LatchkeyVendors"] + playerSDK("ReactNativeVideo")
                + playerSDK("AVFoundation")),
        .target(
            name: "LatchkeyExamples",
            dependencies: [
                "LatchkeyAVFoundation", "LatchkeyJWPlayer", "LatchkeyTHEOplayer", "LatchkeyOpenTV", "LatchkeyTVSDK",
            ] + ["AVFoundation", "JWPlayerKit", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary"].flatMap(playerSDK),
            path: "Examples", swiftSettings: settings),
        // Floor 5
        .executableTarget(
            name: "LatchkeyCommandLine",
            dependencies: [
                "Latchkey", "LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyHLS", "LatchkeyHTTP",
                "LatchkeyPlayback", "LatchkeyServer", "LatchkeyServices", "LatchkeySimulation", "LatchkeyTesting",
                "LatchkeyVendors",
            ]
                + ["LatchkeyExamples", "AVFoundation", "JWPlayerKit", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary"]
                .flatMap(playerSDK) + ["StandInEngine", "StandInPlayers"].flatMap(playerSDK),
            path: "Sources/CommandLine", swiftSettings: settings),

        // A process that the tests kill while it writes keys.
        .executableTarget(
            name: "StoreCrash", dependencies: ["Latchkey", "LatchkeyCore", "LatchkeyTesting"],
            path: "Tests/Support/StoreCrash", swiftSettings: settings),
        tests("Core", ["LatchkeyCore"]),
        tests("HLS", ["LatchkeyHLS", "LatchkeyCore"], resources: [.copy("Corpus")]),
        tests("FairPlay", ["LatchkeyFairPlay", "LatchkeyCore"]),
        tests("HTTP", ["LatchkeyHTTP"]),
        tests("Vendors", ["LatchkeyVendors", "LatchkeyCore"]),
        tests("Device", ["LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyCore"]),
        tests("Playback", ["LatchkeyPlayback", "LatchkeyHLS", "LatchkeyCore"]),
        tests("Client", ["StoreCrash", "Latchkey", "LatchkeyVendors", "LatchkeyHLS", "LatchkeyCore"]),
        tests(
            "Services",
            [
                "LatchkeyServices", "LatchkeyServer", "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyDevice",
                "LatchkeyCore",
            ]),
        tests(
            "EndToEnd",
            [
                "LatchkeySimulation", "Latchkey", "LatchkeyVendors", "LatchkeyServices", "LatchkeyServer",
                "LatchkeyHTTP",
                "LatchkeyFairPlay", "LatchkeyDevice", "LatchkeyPlayback", "LatchkeyHLS", "LatchkeyCore",
            ]),
        tests(
            "CommandLine",
            [
                "LatchkeyCommandLine", "LatchkeySimulation", "Latchkey", "LatchkeyVendors", "LatchkeyServices",
                "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyHLS", "LatchkeyCore",
            ] + ["LatchkeyExamples", "PSDKLibrary", "StandInEngine"].flatMap(playerSDK)),
    ],
    swiftLanguageModes: [.v6]
)

// Players that exist on Apple's systems only have stand-ins of the same module names here. A Mac must not see them: a
// target named like a system framework would take its place.
#if os(Linux)
    func standIn(_ name: String, _ folder: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
        .target(
            name: name, dependencies: dependencies, path: "StandIns/\(folder ?? name)", swiftSettings: settings)
    }

    package.targets += [
        standIn(
            "StandInEngine", "Engine",
            ["LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyPlayback"]),
        standIn(
            "AVFoundation", nil, ["StandInEngine", "LatchkeyCore"]),
        standIn(
            "StandInPlayers", "PlayerEngine", ["StandInEngine", "LatchkeyCore", "LatchkeyDevice", "LatchkeyPlayback"]),
        standIn("JWPlayerKit", nil, ["StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("JWPlayer_iOS_SDK", nil, ["StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("THEOplayerSDK", nil, ["StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("BitmovinPlayer", nil, ["StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("OPYSDKFPS", nil, ["AVFoundation", "StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("PSDKLibrary", nil, ["AVFoundation", "StandInEngine", "LatchkeyCore"]),
        standIn("ReactNativeVideo", nil, ["AVFoundation", "StandInEngine"]),
        tests(
            "StandIn",
            [
                "AVFoundation", "JWPlayerKit", "JWPlayer_iOS_SDK", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary",
                "BitmovinPlayer", "ReactNativeVideo", "StandInPlayers", "StandInEngine", "LatchkeySimulation",
                "LatchkeyServer", "LatchkeyHTTP",
                "LatchkeyFairPlay", "LatchkeyDevice", "LatchkeyPlayback", "LatchkeyCore",
            ]),
        tests(
            "Players",
            [
                "LatchkeyAVFoundation", "LatchkeyJWPlayer", "LatchkeyTHEOplayer", "LatchkeyOpenTV", "LatchkeyTVSDK",
                "LatchkeyBitmovin", "LatchkeyReactNativeVideo", "AVFoundation", "JWPlayerKit", "JWPlayer_iOS_SDK",
                "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary", "BitmovinPlayer", "ReactNativeVideo", "StandInPlayers",
                "StandInEngine", "LatchkeySimulation", "LatchkeyServices",
                "LatchkeyServer", "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyDevice", "LatchkeyPlayback", "Latchkey",
                "LatchkeyVendors", "LatchkeyCore",
            ]),
    ]
#endif

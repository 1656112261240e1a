// swift-tools-version: 6.2
import PackageDescription

// The one table of rooms and arrows: a target may import only targets of lower floors that its row names. CONTRIBUTING.md says why.
// Warnings are errors where `.ci/run` sets this, and nowhere else: a newer compiler's new warning never stops a user's build, and every
// user's own CI sets `CI`.
let isStrict = Context.environment["LATCHKEY_STRICT"] != nil
let strict: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []
let settings: [SwiftSetting] =
    strict + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]

func room(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

func tests(_ room: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: "\(room)Tests", dependencies: dependencies + ["LatchkeyTesting"], resources: resources,
        swiftSettings: settings)
}

// A player's SDK: on Linux the stand-in of its name, elsewhere the SDK itself, which is no dependency.
func playerSDK(_ name: String) -> [Target.Dependency] {
    #if os(Linux)
        [.target(name: name, condition: .when(platforms: [.linux]))]
    #else
        []
    #endif
}

// libcurl carries requests on Linux, where FoundationNetworking may end the process on what a server sends. An app on an Apple
// system uses URLSession and takes no C library along.
func curlClient() -> [Target.Dependency] {
    #if os(Linux)
        [.target(name: "LatchkeyCurl", condition: .when(platforms: [.linux]))]
    #else
        []
    #endif
}

// The programs that write pages. The players of the demo are on Linux only.
func reports() -> [Target.Dependency] {
    #if os(Linux)
        [
            "Latchkey", "LatchkeyBench", "LatchkeyCommandLine", "LatchkeyDemo", "LatchkeySimulation", "LatchkeySupport",
            "LatchkeyTerminal",
        ]
    #else
        []
    #endif
}

let package = Package(
    name: "latchkey",
    platforms: [.iOS(.v16), .tvOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "Latchkey", targets: ["Latchkey"]),
        .library(name: "LatchkeySupport", targets: ["LatchkeySupport"]),
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
        .executable(name: "latchkey-server", targets: ["LatchkeyServerTool"]),
        .executable(name: "latchkey-bench", targets: ["LatchkeyBench"]),
    ],
    targets: [
        // Floor 0
        room("LatchkeyCore"),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        // The TLS of servers.
        .systemLibrary(
            name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"]), .brew(["gnutls"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // XML of packagers.
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
        // Headers alone: a licensee's library and a PKCS#11 module are loaded while the server runs.
        .systemLibrary(name: "CLatchkeyDerivation"),
        .systemLibrary(name: "CPKCS11"),
        // Headers alone: sockets, and child processes.
        .systemLibrary(name: "CSockets"),
        // Floor 1
        room("LatchkeyVirtualTime", ["LatchkeyCore"]),
        room("LatchkeyFiles", ["LatchkeyCore", "CSockets"]),
        room("LatchkeyHLS", ["LatchkeyCore"]),
        room("LatchkeyFairPlay", ["LatchkeyCore", "COpenSSL"]),
        // Floor 2
        room("LatchkeyHTTP", ["LatchkeyCore", "LatchkeyFiles", "CGnuTLS", "CSockets"]),
        room("LatchkeyVendors", ["LatchkeyCore"]),
        room("LatchkeyDevice", ["LatchkeyCore", "LatchkeyFairPlay"]),
        room("LatchkeyPlayback", ["LatchkeyCore", "LatchkeyHLS"]),
        // Floor 3
        room("Latchkey", ["LatchkeyCore", "LatchkeyHLS", "LatchkeyVendors"] + curlClient()),
        room(
            "LatchkeyServer",
            [
                "LatchkeyCore", "LatchkeyFairPlay", "LatchkeyFiles", "LatchkeyHTTP", "CLatchkeyDerivation", "CLibXML2",
                "CPKCS11",
            ]),
        // Floor 4
        room("LatchkeyFaces", ["LatchkeyCore", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyServer"]),
        room(
            "LatchkeyServices",
            ["LatchkeyCore", "LatchkeyFaces", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyServer"]),
        room("LatchkeyDemoMedia", ["LatchkeyCore", "LatchkeyServer"], resources: [.copy("DemoAsset")]),
        // A page that plays in a browser. It is compiled in, so that nothing has to be found at run time.
        .target(
            name: "LatchkeyWebPlayer", dependencies: ["LatchkeyHTTP"], path: "Examples/Web", exclude: ["Vendor"],
            resources: ["index.html", "player.js", "style.css"].map { .embedInCode($0) }, swiftSettings: settings),
        room(
            "LatchkeyStores",
            ["LatchkeyCore", "LatchkeyFairPlay", "LatchkeyFiles", "LatchkeyServer", "CSQLite", "CPostgreSQL"]),
        room(
            "LatchkeySimulation",
            [
                "Latchkey", "LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyHLS", "LatchkeyHTTP",
                "LatchkeyDemoMedia", "LatchkeyPlayback", "LatchkeyServer", "LatchkeyServices", "LatchkeySupport",
                "LatchkeyVendors",
            ]),
        // Pages, files and bundles of what a loader did. An app takes it along where it wants them.
        room("LatchkeySupport", ["Latchkey", "LatchkeyCore", "LatchkeyHLS", "LatchkeyVendors"]),
        room("LatchkeyTesting", ["Latchkey", "LatchkeyCore", "LatchkeyVendors", "LatchkeyVirtualTime"]),
        room(
            "LatchkeyAVFoundation",
            ["Latchkey"] + playerSDK("AVFoundation")),
        room(
            "LatchkeyJWPlayer",
            ["Latchkey"] + playerSDK("JWPlayerKit") + playerSDK("JWPlayer_iOS_SDK")),
        room(
            "LatchkeyTHEOplayer",
            ["Latchkey"] + playerSDK("THEOplayerSDK")),
        room(
            "LatchkeyOpenTV",
            ["Latchkey"] + playerSDK("OPYSDKFPS") + playerSDK("AVFoundation")),
        room(
            "LatchkeyTVSDK",
            ["LatchkeyAVFoundation", "Latchkey"] + playerSDK("PSDKLibrary")
                + playerSDK("AVFoundation")),
        room(
            "LatchkeyBitmovin",
            ["Latchkey"] + playerSDK("BitmovinPlayer")),
        room(
            "LatchkeyReactNativeVideo",
            ["LatchkeyAVFoundation"] + playerSDK("ReactNativeVideo")
                + playerSDK("AVFoundation")),
        .target(
            name: "LatchkeyExamples",
            dependencies: [
                "LatchkeyAVFoundation", "LatchkeyJWPlayer", "LatchkeyTHEOplayer", "LatchkeyOpenTV", "LatchkeyTVSDK",
            ]
                + ["AVFoundation", "JWPlayerKit", "JWPlayer_iOS_SDK", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary"]
                .flatMap(playerSDK),
            path: "Examples", exclude: ["Web"], swiftSettings: settings),
        // Floor 5
        room(
            "LatchkeyTerminal",
            ["Latchkey", "LatchkeyCore", "LatchkeyFiles", "LatchkeyPlayback", "LatchkeyVendors"]),
        // The option `--trace` of the tools.
        room(
            "LatchkeyTracing",
            ["Latchkey", "LatchkeyCore", "LatchkeySupport", "LatchkeyTerminal", "LatchkeyVendors"]),
        // Floor 6
        .executableTarget(
            name: "LatchkeyCommandLine",
            dependencies: [
                "Latchkey", "LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyFiles", "LatchkeyHLS",
                "LatchkeyHTTP", "LatchkeyPlayback", "LatchkeyServer", "LatchkeyServices", "LatchkeySimulation",
                "LatchkeySupport", "LatchkeyTerminal", "LatchkeyTracing", "LatchkeyVendors", "LatchkeyVirtualTime",
            ], swiftSettings: settings),
        .executableTarget(
            name: "LatchkeyServerTool",
            dependencies: [
                "Latchkey", "LatchkeyCore", "LatchkeyDemoMedia", "LatchkeyFaces", "LatchkeyFairPlay", "LatchkeyFiles",
                "LatchkeyHTTP", "LatchkeyServer", "LatchkeyStores", "LatchkeyTerminal", "LatchkeyWebPlayer",
            ], resources: [.embedInCode("Console/Web")], swiftSettings: settings),
        .executableTarget(
            name: "LatchkeyBench",
            dependencies: [
                "Latchkey", "LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyFiles", "LatchkeyHLS",
                "LatchkeyHTTP",
                "LatchkeyPlayback", "LatchkeyServer", "LatchkeyServices", "LatchkeySimulation", "LatchkeySupport",
                "LatchkeyTerminal", "LatchkeyTesting", "LatchkeyVendors", "LatchkeyVirtualTime",
            ], swiftSettings: settings),

        // A process that the tests kill while it writes keys.
        .executableTarget(
            name: "StoreCrash", dependencies: ["Latchkey", "LatchkeyCore", "LatchkeyTesting"],
            path: "Tests/Support/StoreCrash", swiftSettings: settings),
        // A process that the tests kill while it writes to SQLite, and the measurements of the engines.
        .executableTarget(
            name: "StoreEngines", dependencies: ["LatchkeyStores", "LatchkeyServer", "LatchkeyCore"],
            path: "Tests/Support/StoreEngines", swiftSettings: settings),
        // Stores of a server that are away when a test says so.
        .target(
            name: "SwitchedStores", dependencies: ["LatchkeyServer", "LatchkeyCore"],
            path: "Tests/Support/SwitchedStores", swiftSettings: settings),
        // Clients of tests that send what no other client does, TLS clients, and certificates.
        .target(
            name: "TLSPeer", dependencies: ["CGnuTLS"], path: "Tests/Support/TLSPeer", swiftSettings: settings),
        tests("Core", ["LatchkeyCore"]),
        tests("Files", ["LatchkeyFiles", "LatchkeyCore"]),
        tests("HLS", ["LatchkeyHLS", "LatchkeyCore"], resources: [.copy("Corpus")]),
        tests("FairPlay", ["LatchkeyFairPlay", "LatchkeyCore"]),
        tests("HTTP", ["TLSPeer", "LatchkeyHTTP", "LatchkeyFiles", "LatchkeyCore"]),
        // The rooms of the license server, each with a target of its own, so that they compile side by side.
        tests("Forms", ["LatchkeyServer", "LatchkeyCore"]),
        tests("Policy", ["LatchkeyServer", "LatchkeyFairPlay", "LatchkeyCore"]),
        tests("Tokens", ["LatchkeyServer", "LatchkeyFairPlay", "LatchkeyCore"]),
        tests("Vault", ["LatchkeyServer", "LatchkeyFairPlay", "LatchkeyCore"]),
        tests("Packaging", ["LatchkeyServer", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyCore"]),
        tests("Licensees", ["LatchkeyFiles", "LatchkeyServer", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyCore"]),
        tests("Operation", ["LatchkeyFiles", "LatchkeyServer", "LatchkeyHTTP", "LatchkeyVirtualTime", "LatchkeyCore"]),
        tests("Server", ["LatchkeyServer", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyCore"]),
        tests(
            "Stores", ["LatchkeyFiles", "StoreEngines", "LatchkeyStores", "LatchkeyServer", "LatchkeyCore", "CSQLite"]),
        tests("Vendors", ["LatchkeyVendors", "LatchkeyCore"]),
        tests("Device", ["LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyCore"]),
        tests("Playback", ["LatchkeySimulation", "LatchkeyPlayback", "LatchkeyHLS", "LatchkeyCore"]),
        tests(
            "Client",
            ["LatchkeyFiles", "StoreCrash", "Latchkey", "LatchkeyVendors", "LatchkeyHLS", "LatchkeyCore"] + curlClient()
        ),
        tests("Support", ["LatchkeyFiles", "LatchkeySupport", "Latchkey", "LatchkeyVendors", "LatchkeyCore"]),
        tests(
            "Services",
            [
                "TLSPeer",
                "LatchkeyFaces", "LatchkeyServices", "LatchkeyServer", "LatchkeyHTTP", "LatchkeyFairPlay",
                "LatchkeyDevice", "LatchkeyCore",
            ]),
        tests(
            "EndToEnd",
            [
                "TLSPeer", "LatchkeyServerTool", "LatchkeyFaces", "LatchkeySimulation", "LatchkeySupport", "Latchkey",
                "LatchkeyVendors",
                "LatchkeyServices", "LatchkeyServer", "LatchkeyHTTP", "LatchkeyFiles",
                "LatchkeyFairPlay", "LatchkeyDevice", "LatchkeyPlayback", "LatchkeyHLS", "LatchkeyCore",
            ]),
        tests(
            "CommandLine",
            [
                "LatchkeyFiles",
                "LatchkeyCommandLine", "LatchkeyServerTool", "LatchkeySimulation", "LatchkeySupport",
                "LatchkeyTerminal", "LatchkeyTracing",
                "Latchkey", "LatchkeyVendors",
                "LatchkeyServices", "LatchkeyServer", "LatchkeyDevice", "LatchkeyPlayback", "LatchkeyHTTP",
                "LatchkeyFairPlay", "LatchkeyHLS", "LatchkeyCore",
            ]),
        tests(
            "ServerTool",
            [
                "SwitchedStores", "TLSPeer", "LatchkeyServerTool", "LatchkeyTerminal", "Latchkey", "LatchkeyVendors",
                "LatchkeyStores", "LatchkeyFaces", "LatchkeyServer", "LatchkeyDevice", "LatchkeyHTTP",
                "LatchkeyFairPlay", "LatchkeyFiles", "LatchkeyCore",
            ]),
        tests(
            "Browser",
            [
                "LatchkeyFiles",
                "SwitchedStores", "LatchkeyServerTool", "LatchkeyDemoMedia", "LatchkeyServer", "LatchkeyStores",
                "LatchkeyVendors", "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyCore",
            ] + reports()),
        tests(
            "Bench",
            [
                "Latchkey", "LatchkeyBench", "LatchkeyServices", "LatchkeySupport", "LatchkeyHTTP", "LatchkeyFairPlay",
                "LatchkeyCore",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// Players that exist on Apple's systems only have stand-ins of the same module names here. A Mac must not see them: a
// target named like a system framework would take its place.
#if os(Linux)
    func standIn(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
        .target(name: name, dependencies: dependencies, path: "StandIns/\(name)", swiftSettings: settings)
    }

    package.products.append(.executable(name: "latchkey-demo", targets: ["LatchkeyDemo"]))
    package.targets += [
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        room("LatchkeyCurl", ["LatchkeyCore", "LatchkeyFiles", "CCurl"]),
        standIn(
            "StandInEngine",
            ["LatchkeyCore", "LatchkeyCurl", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyPlayback"]),
        standIn(
            "AVFoundation", ["StandInEngine", "LatchkeyCore"]),
        standIn(
            "StandInPlayers", ["StandInEngine", "LatchkeyCore", "LatchkeyDevice", "LatchkeyPlayback"]),
        standIn("JWPlayerKit", ["StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("JWPlayer_iOS_SDK", ["StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("THEOplayerSDK", ["StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("BitmovinPlayer", ["StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("OPYSDKFPS", ["AVFoundation", "StandInPlayers", "StandInEngine", "LatchkeyCore"]),
        standIn("PSDKLibrary", ["AVFoundation", "StandInEngine", "LatchkeyCore"]),
        standIn("ReactNativeVideo", ["AVFoundation", "StandInEngine"]),
        // Five applications with their players; players exist as stand-ins only.
        .executableTarget(
            name: "LatchkeyDemo",
            dependencies: [
                "Latchkey", "LatchkeyCore", "LatchkeyFairPlay", "LatchkeyServer", "LatchkeyServices",
                "LatchkeySimulation", "LatchkeySupport", "LatchkeyTerminal", "LatchkeyTesting", "LatchkeyTracing",
                "LatchkeyVendors", "LatchkeyExamples",
                "AVFoundation", "JWPlayerKit", "JWPlayer_iOS_SDK", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary",
                "StandInPlayers", "StandInEngine",
            ], swiftSettings: settings),
        tests("Demo", ["LatchkeyDemo", "LatchkeySimulation", "LatchkeyServices", "Latchkey", "LatchkeyCore"]),
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

// `LATCHKEY_TESTS=Client,Vendors swift test` builds and runs only these rooms' tests.
if let rooms = Context.environment["LATCHKEY_TESTS"] {
    let wanted = Set(rooms.split(separator: ",").map { "\($0)Tests" })
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

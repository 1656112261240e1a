// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The one table of rooms and arrows, and one file because a manifest is one: a target may import only targets of lower floors that its row
// names. Documentation/Architecture.md says why.

// The products of the manifest. An app takes only the client: no C library, no server, no test, no product that is empty in an app.
// `LATCHKEY_SHAPE` chooses another shape than the host's. `Scripts/check-package` looks at all three, on Linux.
enum Shape: String {
    // The products of the client, and what these reach: on a Mac, where apps are built.
    case app
    // Everything that there is on a Mac.
    case mac
    // Everything, with players that exist as stand-ins only.
    case linux
}

#if os(Linux)
    let shapeOfHost = Shape.linux
#else
    let shapeOfHost = Shape.app
#endif
guard let shape = Shape(rawValue: Context.environment["LATCHKEY_SHAPE"] ?? shapeOfHost.rawValue) else {
    print("LATCHKEY_SHAPE is app, mac or linux.")
    exit(1)
}

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

// `make test-all OPTIMIZED=1` tests optimized sources. Tests and what supports them stay unoptimized: the optimizer crashes on one of them.
let isOptimized = Context.environment["LATCHKEY_OPTIMIZED"] != nil
let testSettings = settings + (isOptimized ? [.unsafeFlags(["-Onone", "-DDEBUG"])] : [])

func room(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

func tests(_ room: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: "\(room)Tests", dependencies: dependencies + ["LatchkeyTesting"], resources: resources,
        swiftSettings: testSettings)
}

// A player's SDK: on Linux the stand-in of its name, elsewhere the SDK itself, which is not a dependency.
func playerSDK(_ name: String) -> [Target.Dependency] {
    shape == .linux ? [.target(name: name, condition: .when(platforms: [.linux]))] : []
}

// libcurl carries requests on Linux, where FoundationNetworking may crash on a server's reply. An app on an Apple
// system uses URLSession and takes no C library along.
func curl() -> [Target.Dependency] {
    shape == .linux
        ? ["LatchkeySystem", "CCurl"].map { .target(name: $0, condition: .when(platforms: [.linux])) } : []
}

// The programs that write pages. The players of the demo are on Linux only.
func reports() -> [Target.Dependency] {
    guard shape == .linux else { return [] }
    return [
        "Latchkey", "LatchkeyBench", "LatchkeyCommandLine", "LatchkeyDemo", "LatchkeySimulation", "LatchkeySupport",
        "LatchkeyTerminal",
    ]
}

// The source of an app's privacy report; no program here needs it.
let privacyManifest = "PrivacyInfo.xcprivacy"

let package = Package(
    name: "latchkey",
    platforms: [.iOS(.v16), .tvOS(.v16), .macOS(.v13), .visionOS(.v1)],
    products: [
        .library(name: "Latchkey", targets: ["Latchkey"]),
        .library(name: "LatchkeySupport", targets: ["LatchkeySupport"]),
        .library(name: "LatchkeyAVFoundation", targets: ["LatchkeyAVFoundation"]),
        .library(name: "LatchkeyBridge", targets: ["LatchkeyBridge"]),
        .library(name: "LatchkeyJWPlayer", targets: ["LatchkeyJWPlayer"]),
        .library(name: "LatchkeyTHEOplayer", targets: ["LatchkeyTHEOplayer"]),
        .library(name: "LatchkeyOpenTV", targets: ["LatchkeyOpenTV"]),
        .library(name: "LatchkeyTVSDK", targets: ["LatchkeyTVSDK"]),
        .library(name: "LatchkeyBitmovin", targets: ["LatchkeyBitmovin"]),
        .library(name: "LatchkeyReactNativeVideo", targets: ["LatchkeyReactNativeVideo"]),
        .library(name: "LatchkeyServer", targets: ["LatchkeyServer"]),
        .library(name: "LatchkeyServices", targets: ["LatchkeyServices"]),
        .library(name: "LatchkeyDevice", targets: ["LatchkeyDevice"]),
        .library(name: "LatchkeyTesting", targets: ["LatchkeyTesting"]),
        .executable(name: "latchkey", targets: ["LatchkeyCommandLine"]),
        .executable(name: "latchkey-server", targets: ["LatchkeyServerTool"]),
        .executable(name: "latchkey-bench", targets: ["LatchkeyBench"]),
    ],
    targets: [
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
        // Compressed captures, which the tool reads. Apple's SDK has it.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        // Headers alone: a licensee's library and a PKCS#11 module are loaded while the server runs.
        .systemLibrary(name: "CLatchkeyDerivation"),
        .systemLibrary(name: "CPKCS11"),
        // Headers alone: sockets, and child processes.
        .systemLibrary(name: "CSockets"),
        // The operating system's files, processes and sockets, and the health of the engines that a server uses.
        room("LatchkeySystem", ["LatchkeyCore", "CSockets"]),
        // How a request gets to a server: below client and server.
        .target(
            name: "LatchkeyTransport", dependencies: ["LatchkeyCore"] + curl(),
            exclude: shape == .linux ? [] : ["Curl"], swiftSettings: settings),
        room("LatchkeyHLS", ["LatchkeyCore"]),
        room("LatchkeyFairPlay", ["LatchkeyCore", "COpenSSL"]),
        room("LatchkeyHTTP", ["LatchkeyCore", "LatchkeySystem", "CGnuTLS", "CSockets"]),
        // Strict JSON, and forms with problems by place: below client and server.
        room("LatchkeyForms", ["LatchkeyCore"]),
        room("LatchkeyVendors", ["LatchkeyCore", "LatchkeyForms"]),
        room("LatchkeyDevice", ["LatchkeyCore", "LatchkeyFairPlay"]),
        room("LatchkeyPlayback", ["LatchkeyCore", "LatchkeyHLS", "LatchkeySystem"]),
        .target(
            name: "Latchkey", dependencies: ["LatchkeyCore", "LatchkeyHLS", "LatchkeyTransport", "LatchkeyVendors"],
            exclude: shape == .app ? [] : [privacyManifest],
            resources: shape == .app ? [.copy(privacyManifest)] : [], swiftSettings: settings),
        // The license server, from below. The decision: tokens, policies, terms. Pure: no HTTP, no store, no clock.
        room("LatchkeyDecision", ["LatchkeyCore", "LatchkeyFairPlay", "LatchkeySystem", "LatchkeyForms"]),
        // Keys under seal, the protocols of stores, and the record of every license.
        room(
            "LatchkeyVault",
            ["LatchkeyCore", "LatchkeyFairPlay", "LatchkeySystem", "LatchkeyForms", "LatchkeyDecision"]),
        room(
            "LatchkeyLicensees",
            [
                "LatchkeyCore", "LatchkeyFairPlay", "LatchkeySystem", "CLatchkeyDerivation", "CPKCS11", "CSockets",
                "LatchkeyForms",
            ]),
        room(
            "LatchkeyPackaging",
            [
                "LatchkeyCore", "LatchkeyFairPlay", "LatchkeyHTTP", "CLibXML2", "LatchkeyForms", "LatchkeyDecision",
                "LatchkeyVault",
            ]),
        // Vendors' wires, for whoever makes licenses.
        room(
            "LatchkeyVendorWire",
            ["LatchkeyCore", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyForms", "LatchkeyDecision"]),
        room(
            "LatchkeyLicensing",
            [
                "LatchkeyCore", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyForms", "LatchkeySystem",
                "LatchkeyDecision", "LatchkeyVault", "LatchkeyLicensees", "LatchkeyPackaging", "LatchkeyVendorWire",
            ]),
        room(
            "LatchkeyServices",
            [
                "LatchkeyCore", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyMedia", "LatchkeyForms",
                "LatchkeyDecision", "LatchkeyVendorWire",
            ]),
        room("LatchkeyMedia", ["LatchkeyCore", "LatchkeySystem", "LatchkeyHTTP"], resources: [.copy("DemoAsset")]),
        // A page that plays in a browser. It is compiled in, so that nothing has to be found at run time.
        .target(
            name: "LatchkeyWebPlayer", dependencies: ["LatchkeyHTTP"], path: "Examples/Web",
            resources: ["index.html", "player.js", "style.css"].map { .embedInCode($0) }, swiftSettings: settings),
        room(
            "LatchkeyStores",
            [
                "LatchkeyCore", "LatchkeyFairPlay", "LatchkeySystem", "LatchkeyForms", "LatchkeyHTTP", "CSQLite",
                "CPostgreSQL", "LatchkeyDecision", "LatchkeyVault",
            ]),
        room(
            "LatchkeySimulation",
            [
                "Latchkey", "LatchkeyTerminal", "LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyHLS",
                "LatchkeyHTTP", "LatchkeyMedia", "LatchkeyPlayback", "LatchkeySupport", "LatchkeyVendors",
                "LatchkeyServices",
            ]),
        // Pages, files and bundles of a loader's activity, for apps that want them.
        room("LatchkeySupport", ["Latchkey", "LatchkeyCore", "LatchkeyHLS", "LatchkeyVendors"]),
        room("LatchkeyTesting", ["Latchkey", "LatchkeyCore", "LatchkeyVendors"]),
        room(
            "LatchkeyAVFoundation",
            ["Latchkey"] + playerSDK("AVFoundation")),
        // The keys for Objective-C and C; its header is for hosts that bind C.
        .target(
            name: "LatchkeyBridge",
            dependencies: ["LatchkeyAVFoundation", "Latchkey", "LatchkeyCore", "LatchkeyVendors"]
                + playerSDK("AVFoundation"),
            exclude: ["include"], swiftSettings: settings),
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
                "Latchkey", "LatchkeyAVFoundation", "LatchkeyJWPlayer", "LatchkeyTHEOplayer", "LatchkeyOpenTV",
                "LatchkeyTVSDK",
            ]
                + ["AVFoundation", "JWPlayerKit", "JWPlayer_iOS_SDK", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary"]
                .flatMap(playerSDK),
            path: "Examples", exclude: ["Hosts", "Proxy", "Server", "Web"], swiftSettings: settings),
        .target(
            name: "LatchkeyServerExamples", dependencies: ["LatchkeyServer"], path: "Examples/Server",
            swiftSettings: settings),
        room(
            "LatchkeyTerminal",
            ["LatchkeyCore", "LatchkeyPlayback", "LatchkeySystem", "LatchkeyTransport", "LatchkeyForms"]),
        .executableTarget(
            name: "LatchkeyCommandLine",
            dependencies: [
                "Latchkey", "LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyHLS", "LatchkeyHTTP",
                "LatchkeyPlayback", "LatchkeySimulation", "LatchkeySupport", "LatchkeyTerminal", "LatchkeyVendors",
                "LatchkeyTesting", "LatchkeySystem", "LatchkeyMedia", "LatchkeyForms", "LatchkeyDecision",
                "LatchkeyVault", "LatchkeyLicensing", "LatchkeyServices", "CZlib",
            ], swiftSettings: settings),
        .target(
            name: "LatchkeyServer",
            dependencies: [
                "LatchkeyCore", "LatchkeyFairPlay", "LatchkeySystem", "LatchkeyHTTP", "LatchkeyStores",
                "LatchkeyTransport", "LatchkeyForms", "LatchkeyDecision", "LatchkeyVault", "LatchkeyLicensees",
                "LatchkeyPackaging", "LatchkeyLicensing", "LatchkeyVendorWire",
            ],
            resources: [.embedInCode("Console/Web")], swiftSettings: settings),
        .executableTarget(
            name: "LatchkeyServerTool",
            dependencies: [
                "LatchkeyCore", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeyStores", "LatchkeyTerminal",
                "LatchkeyWebPlayer", "LatchkeySystem", "LatchkeyMedia", "LatchkeyTransport", "LatchkeyForms",
                "LatchkeyDecision", "LatchkeyVault", "LatchkeyLicensees", "LatchkeyLicensing", "LatchkeyServer",
            ], swiftSettings: settings),
        .executableTarget(
            name: "LatchkeyBench",
            dependencies: [
                "Latchkey", "LatchkeyCore", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyHLS", "LatchkeyHTTP",
                "LatchkeyPlayback", "LatchkeySimulation", "LatchkeySupport", "LatchkeyTerminal", "LatchkeyTesting",
                "LatchkeyVendors", "LatchkeySystem", "LatchkeyMedia", "LatchkeyForms", "LatchkeyDecision",
                "LatchkeyServices", "LatchkeyLicensees",
            ], swiftSettings: settings),

        // A process that the tests kill while it writes keys.
        .executableTarget(
            name: "StoreCrash", dependencies: ["Latchkey", "LatchkeyCore", "LatchkeyTesting"],
            path: "Tests/Support/StoreCrash", swiftSettings: testSettings),
        // A process that the tests kill while it writes to SQLite, and the measurements of the engines.
        .executableTarget(
            name: "StoreEngines",
            dependencies: [
                "LatchkeyStores", "LatchkeyCore", "LatchkeySystem", "LatchkeyDecision", "LatchkeyVault",
                "LatchkeyLicensing",
            ],
            path: "Tests/Support/StoreEngines", swiftSettings: testSettings),
        // The refusals that vendors' pages document, as a table for tests of both ends.
        .target(
            name: "DocumentedRefusals", path: "Tests/Support/DocumentedRefusals", swiftSettings: testSettings),
        // The vendors' wires as text, for tests of both ends.
        .target(name: "WireTranscripts", path: "Tests/Support/WireTranscripts", swiftSettings: testSettings),
        // Shared libraries that tests build from C.
        .target(
            name: "BuiltLibrary", dependencies: ["LatchkeySystem", "LatchkeyTesting", "LatchkeyCore"],
            path: "Tests/Support/BuiltLibrary", swiftSettings: testSettings),
        // PostgreSQL and Redis as processes of the tests' own.
        .target(
            name: "StoreProcesses",
            dependencies: ["LatchkeyStores", "LatchkeySystem", "LatchkeyTesting", "LatchkeyCore"],
            path: "Tests/Support/StoreProcesses", swiftSettings: testSettings),
        // Stores of a server that are away when a test says so.
        .target(
            name: "SwitchedStores",
            dependencies: ["LatchkeyCore", "LatchkeySystem", "LatchkeyDecision", "LatchkeyVault"],
            path: "Tests/Support/SwitchedStores", swiftSettings: testSettings),
        // License servers that tests start, each in its own folder.
        .target(
            name: "TestServers",
            dependencies: [
                "SwitchedStores", "StoreProcesses", "LatchkeyServerTool", "LatchkeyServer", "LatchkeyLicensing",
                "LatchkeyForms", "LatchkeySystem", "LatchkeyFairPlay", "LatchkeyDevice", "LatchkeyStores",
                "LatchkeyVault",
                "LatchkeyTransport", "LatchkeyTesting", "LatchkeyCore",
            ],
            path: "Tests/Support/TestServers", swiftSettings: testSettings),
        // Clients of tests that send what no other client does, TLS clients, and certificates.
        .target(
            name: "TLSPeer", dependencies: ["CGnuTLS", "LatchkeyCore"], path: "Tests/Support/TLSPeer",
            swiftSettings: testSettings),
        tests("Core", ["LatchkeyCore"]),
        tests("Files", ["LatchkeySystem", "LatchkeyCore"]),
        tests("HLS", ["LatchkeyHLS", "LatchkeyCore"], resources: [.copy("Corpus")]),
        tests("FairPlay", ["LatchkeyFairPlay", "LatchkeyCore"]),
        tests("HTTP", ["TLSPeer", "LatchkeyHTTP", "LatchkeySystem", "LatchkeyCore"]),
        // The rooms of the license server. Each has its own test target, so that they compile in parallel.
        tests("Forms", ["LatchkeyForms", "LatchkeySystem", "LatchkeyCore"]),
        tests(
            "Policy",
            [
                "LatchkeyForms", "LatchkeySystem", "LatchkeyDecision", "LatchkeyVault", "LatchkeyLicensing",
                "LatchkeyFairPlay", "LatchkeyCore",
            ]),
        tests(
            "Tokens",
            [
                "LatchkeyForms", "LatchkeySystem", "LatchkeyDecision", "LatchkeyLicensing", "LatchkeyFairPlay",
                "LatchkeyCore",
            ]),
        tests(
            "Vault",
            [
                "LatchkeyForms", "LatchkeySystem", "LatchkeyDecision", "LatchkeyVault", "LatchkeyLicensing",
                "LatchkeyFairPlay", "LatchkeyCore", "SwitchedStores",
            ]),
        tests(
            "Packaging",
            [
                "LatchkeyDecision", "LatchkeyVault", "LatchkeyPackaging", "LatchkeyFairPlay", "LatchkeyHTTP",
                "LatchkeyCore",
            ]),
        tests(
            "Licensees",
            [
                "BuiltLibrary", "LatchkeySystem", "LatchkeyForms", "LatchkeyDecision", "LatchkeyVault",
                "LatchkeyLicensees", "LatchkeyLicensing", "LatchkeyServerTool", "LatchkeyDevice", "LatchkeyFairPlay",
                "LatchkeyCore",
            ]),
        tests(
            "Operation",
            [
                "LatchkeySystem", "LatchkeyForms", "LatchkeyDecision", "LatchkeyVault", "LatchkeyLicensing",
                "LatchkeyVendorWire", "LatchkeyHTTP", "LatchkeyCore",
            ]),
        tests(
            "Server",
            [
                "BuiltLibrary", "LatchkeyServerTool", "LatchkeyForms", "LatchkeyDecision", "LatchkeyVault",
                "LatchkeyLicensees", "LatchkeyPackaging",
                "LatchkeyLicensing", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyHTTP", "LatchkeySystem",
                "SwitchedStores", "LatchkeyCore",
            ]),
        tests(
            "Stores",
            [
                "LatchkeySystem", "LatchkeyDecision", "LatchkeyVault", "LatchkeyLicensing", "LatchkeyServerExamples",
                "StoreEngines", "StoreProcesses", "SwitchedStores", "TLSPeer", "LatchkeyForms", "LatchkeyFairPlay",
                "LatchkeyStores", "LatchkeyCore", "CSQLite",
            ]),
        tests("Vendors", ["WireTranscripts", "LatchkeyVendors", "LatchkeyForms", "LatchkeyCore"]),
        tests(
            "Record", ["LatchkeyVault", "LatchkeySystem", "LatchkeyForms", "LatchkeyCore"]),
        tests("Device", ["LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyCore"]),
        tests("Playback", ["LatchkeySimulation", "LatchkeyPlayback", "LatchkeyHLS", "LatchkeyCore"]),
        tests(
            "Client",
            ["LatchkeySystem", "StoreCrash", "Latchkey", "LatchkeyVendors", "LatchkeyHLS", "LatchkeyCore"]
        ),
        tests("Support", ["LatchkeySystem", "LatchkeySupport", "Latchkey", "LatchkeyVendors", "LatchkeyCore"]),
        tests(
            "Services",
            [
                "LatchkeyMedia", "LatchkeyForms", "LatchkeyDecision", "LatchkeyVendorWire", "DocumentedRefusals",
                "WireTranscripts", "LatchkeyServices", "TLSPeer", "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyDevice",
                "LatchkeyCore",
            ]),
        tests(
            "EndToEnd",
            [
                "TestServers", "DocumentedRefusals", "LatchkeySystem", "LatchkeyMedia", "LatchkeyForms",
                "LatchkeyDecision", "LatchkeyVault", "LatchkeyLicensees", "LatchkeyPackaging", "LatchkeyLicensing",
                "LatchkeyVendorWire", "LatchkeyServer", "LatchkeyServices", "TLSPeer", "LatchkeyServerTool",
                "LatchkeyCommandLine", "LatchkeyTerminal", "LatchkeySimulation", "LatchkeySupport", "Latchkey",
                "LatchkeyVendors", "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyDevice", "LatchkeyPlayback",
                "LatchkeyHLS", "LatchkeyCore",
            ]),
        tests(
            "CommandLine",
            [
                "LatchkeySystem", "LatchkeyMedia", "LatchkeyForms", "LatchkeyDecision", "LatchkeyServices",
                "LatchkeyCommandLine", "LatchkeyServerTool", "LatchkeySimulation", "LatchkeySupport",
                "LatchkeyTerminal", "Latchkey", "LatchkeyVendors", "LatchkeyDevice", "LatchkeyPlayback", "LatchkeyHTTP",
                "LatchkeyFairPlay", "LatchkeyHLS", "LatchkeyCore", "CZlib",
            ]),
        tests(
            "ServerTool",
            [
                "TestServers", "BuiltLibrary", "LatchkeyServerExamples", "LatchkeySystem", "LatchkeyTransport",
                "LatchkeyForms", "LatchkeyVault", "LatchkeyDecision", "LatchkeyLicensees", "LatchkeyPackaging",
                "LatchkeyLicensing", "LatchkeyVendorWire", "LatchkeyServer", "SwitchedStores", "StoreProcesses",
                "TLSPeer", "LatchkeyServerTool", "LatchkeyTerminal", "Latchkey", "LatchkeyVendors", "LatchkeyStores",
                "LatchkeyDevice", "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyCore",
            ]),
        tests(
            "Browser",
            [
                "TestServers", "LatchkeySystem", "LatchkeyMedia", "LatchkeyForms", "LatchkeyDecision", "LatchkeyVault",
                "LatchkeyLicensing", "LatchkeyServer", "SwitchedStores", "LatchkeyServerTool", "LatchkeyStores",
                "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyCore", "TLSPeer",
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
func standIn(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "StandIns/\(name)", swiftSettings: settings)
}

if shape == .linux {
    package.products.append(.executable(name: "latchkey-demo", targets: ["LatchkeyDemo"]))
    package.targets += [
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        standIn(
            "StandInEngine",
            ["LatchkeyCore", "LatchkeyTransport", "LatchkeyDevice", "LatchkeyFairPlay", "LatchkeyPlayback"]),
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
                "Latchkey", "LatchkeyCore", "LatchkeyFairPlay", "LatchkeySimulation", "LatchkeySupport",
                "LatchkeyTerminal", "LatchkeyTesting", "LatchkeyVendors", "LatchkeyExamples", "AVFoundation",
                "JWPlayerKit", "JWPlayer_iOS_SDK", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary", "StandInPlayers",
                "StandInEngine", "LatchkeyServices",
            ], swiftSettings: settings),
        tests("Demo", ["LatchkeyDemo", "LatchkeySimulation", "LatchkeyServices", "Latchkey", "LatchkeyCore"]),
        // The trials of `acceptance`, so that they compile before anybody with a device opens them; the app's views need SwiftUI.
        .target(
            name: "LatchkeyAcceptance",
            dependencies: [
                "Latchkey", "LatchkeyAVFoundation", "LatchkeyJWPlayer", "LatchkeyTHEOplayer", "LatchkeyOpenTV",
                "LatchkeyTVSDK", "AVFoundation", "JWPlayerKit", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary",
            ], path: "acceptance/Acceptance.swiftpm/Sources", exclude: ["AcceptanceApp.swift"],
            swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
        tests(
            "StandIn",
            [
                "LatchkeyMedia", "LatchkeyServices", "AVFoundation", "JWPlayerKit", "JWPlayer_iOS_SDK", "THEOplayerSDK",
                "OPYSDKFPS", "PSDKLibrary", "BitmovinPlayer", "ReactNativeVideo", "StandInPlayers", "StandInEngine",
                "LatchkeySimulation", "LatchkeyHTTP", "LatchkeyFairPlay", "LatchkeyDevice", "LatchkeyPlayback",
                "LatchkeyCore",
            ]),
        // A host in C, linked as C programs are.
        .executableTarget(
            name: "BridgeProgram", dependencies: ["LatchkeyBridge"], path: "Tests/Support/BridgeProgram",
            cSettings: [.headerSearchPath("../../../Sources/LatchkeyBridge/include")]),
        tests(
            "Players",
            [
                "BridgeProgram", "BuiltLibrary", "LatchkeyBridge", "LatchkeyMedia", "LatchkeyDecision", "LatchkeyVault",
                "LatchkeyServices", "LatchkeyAVFoundation", "LatchkeyJWPlayer", "LatchkeyTHEOplayer", "LatchkeyOpenTV",
                "LatchkeyTVSDK", "LatchkeyBitmovin", "LatchkeyReactNativeVideo", "LatchkeyExamples", "AVFoundation",
                "JWPlayerKit", "JWPlayer_iOS_SDK", "THEOplayerSDK", "OPYSDKFPS", "PSDKLibrary", "BitmovinPlayer",
                "ReactNativeVideo", "StandInPlayers", "StandInEngine", "LatchkeySimulation", "LatchkeyHTTP",
                "LatchkeyFairPlay", "LatchkeyDevice", "LatchkeyPlayback", "LatchkeyCommandLine", "LatchkeyTransport",
                "Latchkey", "LatchkeyVendors", "LatchkeyCore",
            ]),
    ]
}

// An app takes the adapters of SDKs that it brings as files: as products of a package they would be empty.
if shape != .linux {
    let asFiles = ["JWPlayer", "THEOplayer", "OpenTV", "TVSDK", "Bitmovin", "ReactNativeVideo"].map { "Latchkey\($0)" }
    package.products.removeAll { asFiles.contains($0.name) }
}

if shape == .app {
    let products = ["Latchkey", "LatchkeyAVFoundation", "LatchkeyBridge", "LatchkeySupport", "LatchkeyTesting"]
    package.products.removeAll { !products.contains($0.name) }
    var reached: Set<String> = []
    var waiting = products
    while let name = waiting.popLast() {
        guard reached.insert(name).inserted else { continue }
        for case .byNameItem(let name, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            waiting.append(name)
        }
    }
    package.targets.removeAll { !reached.contains($0.name) }
}

// `LATCHKEY_TESTS=Client,Vendors swift test` builds and runs only these rooms' tests.
if let rooms = Context.environment["LATCHKEY_TESTS"] {
    let wanted = Set(rooms.split(separator: ",").map { "\($0)Tests" })
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

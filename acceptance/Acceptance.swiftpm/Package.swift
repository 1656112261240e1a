// swift-tools-version: 6.2
import AppleProductTypes
import PackageDescription

// An app that Xcode and Swift Playgrounds open as it is; choose a team to run it on a device.
let package = Package(
    name: "Acceptance",
    platforms: [.iOS(.v16)],
    products: [
        .iOSApplication(
            name: "Acceptance", targets: ["Acceptance"], bundleIdentifier: "org.latchkey.acceptance",
            displayVersion: "1.0", bundleVersion: "1", supportedDeviceFamilies: [.pad, .phone],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight])
    ],
    dependencies: [.package(name: "latchkey", path: "../..")],
    targets: [
        .executableTarget(
            name: "Acceptance",
            dependencies: [
                .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyAVFoundation", package: "latchkey"),
            ],
            path: "Sources",
            // As a new app of Xcode 26.
            swiftSettings: [.defaultIsolation(MainActor.self)])
    ]
)

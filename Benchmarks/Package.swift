// swift-tools-version: 6.2
import PackageDescription

// What loads servers for `Benchmarks/run`. A package of its own, so that it takes no time of an ordinary build; the modules are
// those of the main package, by symbolic links.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "martlet-benchmarks",
    platforms: [.macOS(.v15)],
    targets: [
        .target(name: "CMartletLinux"),
        .target(name: "CMartletLLHTTP", cSettings: [.define("LLHTTP_STRICT_MODE", to: "1")]),
        .systemLibrary(name: "CMartletOpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CMartletNGHTTP2", pkgConfig: "libnghttp2"),
        .systemLibrary(name: "CMartletArgon2", pkgConfig: "libargon2"),
        .target(name: "MartletModel", swiftSettings: settings),
        .target(name: "MartletHTTP", swiftSettings: settings),
        .target(name: "MartletCore", dependencies: ["MartletModel", "MartletHTTP"], swiftSettings: settings),
        .target(name: "MartletCrypto", dependencies: ["CMartletOpenSSL", "CMartletArgon2"], swiftSettings: settings),
        .target(
            name: "MartletPush", dependencies: ["MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto"],
            swiftSettings: settings),
        .target(
            name: "MartletNetwork",
            dependencies: ["MartletHTTP", "CMartletLinux", "CMartletOpenSSL", "CMartletNGHTTP2", "CMartletLLHTTP"],
            swiftSettings: settings),
        .executableTarget(
            name: "LoadGenerator",
            dependencies: [
                "MartletPush", "MartletCore", "MartletModel", "MartletNetwork", "MartletHTTP", "MartletCrypto",
            ],
            swiftSettings: settings),
    ]
)

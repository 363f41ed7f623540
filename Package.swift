// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors and the language is held to its stricter future, without unsafe flags,
// so that an app can depend on the SDK products of this package.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

func system(_ name: String, _ pkgConfig: String?, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

let package = Package(
    name: "martlet",
    // What the SDK needs. The server is built for Linux alone, so that its own needs do not count here.
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .executable(name: "martlet", targets: ["martlet"]),
        .library(name: "MartletClient", targets: ["MartletClient"]),
        .library(name: "MartletURLSession", targets: ["MartletURLSession"]),
        .library(name: "MartletOpenSSL", targets: ["MartletOpenSSL"]),
    ],
    targets: [
        // C libraries, each behind one header of its own.
        .target(name: "CMartletLinux"),
        // Strict: without it the parser takes any byte for the line feed behind a chunk.
        .target(name: "CMartletLLHTTP", cSettings: [.define("LLHTTP_STRICT_MODE", to: "1")]),
        system("CMartletOpenSSL", "openssl", apt: "libssl-dev", brew: "openssl@3"),
        system("CMartletNGHTTP2", "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
        system("CMartletXML2", "libxml-2.0", apt: "libxml2-dev", brew: "libxml2"),
        system("CMartletZlib", "zlib", apt: "zlib1g-dev", brew: "zlib"),
        system("CMartletArgon2", "libargon2", apt: "libargon2-dev", brew: "argon2"),
        system("CMartletSQLite", "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
        system("CMartletPQ", "libpq", apt: "libpq-dev", brew: "libpq"),

        // What apps and server share, and the SDK.
        module("MartletModel"),
        module("MartletClient", ["MartletModel"]),
        module("MartletURLSession", ["MartletClient"]),
        module("MartletOpenSSL", ["MartletClient", "MartletCrypto"]),

        // The engine and its parts; who may know whom is drawn in Docs/Decisions/0001.
        module("MartletHTTP"),
        module("MartletOpenAPI", ["MartletModel", "MartletHTTP"]),
        module("MartletCore", ["MartletModel", "MartletHTTP"]),
        module("MartletCrypto", ["CMartletOpenSSL", "CMartletArgon2"]),
        module("MartletACME", ["MartletModel", "MartletHTTP", "MartletCrypto"]),
        module("MartletPush", ["MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto"]),
        module(
            "MartletNetwork",
            ["MartletHTTP", "CMartletLinux", "CMartletOpenSSL", "CMartletNGHTTP2", "CMartletLLHTTP"]),
        module("MartletStorage", ["MartletCore", "MartletModel", "CMartletSQLite"]),
        module("MartletPostgres", ["MartletCore", "MartletModel", "CMartletPQ"]),
        module(
            "MartletHubAPI",
            ["MartletCore", "MartletModel", "MartletHTTP", "MartletOpenAPI", "MartletCrypto", "CMartletXML2"]),
        module("MartletOpenIDConnect", ["MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto"]),
        module(
            "MartletBackend",
            [
                "MartletCore", "MartletModel", "MartletHTTP", "MartletOpenAPI", "MartletCrypto", "MartletOpenIDConnect",
            ]),
        // The console's pages, embedded as a table of files.
        .target(name: "CMartletConsoleWeb", exclude: ["Web"]),
        module(
            "MartletConsole",
            [
                "MartletCore", "MartletModel", "MartletHTTP", "MartletOpenAPI", "MartletCrypto", "MartletOpenIDConnect",
                "CMartletConsoleWeb",
            ]),
        module(
            "MartletSimulator",
            ["MartletPush", "MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto", "MartletNetwork"]),
        module(
            "MartletServer",
            [
                "MartletHubAPI", "MartletBackend", "MartletConsole", "MartletStorage", "MartletPostgres", "MartletPush",
                "MartletACME", "MartletNetwork", "MartletCore", "MartletModel", "MartletHTTP", "MartletOpenAPI",
                "MartletCrypto", "MartletOpenIDConnect",
            ]),
        .executableTarget(
            name: "martlet",
            dependencies: [
                "MartletServer", "MartletSimulator", "MartletClient", "MartletOpenSSL", "MartletNetwork",
                "MartletModel", "MartletHTTP", "MartletCrypto", "CMartletLinux", "CMartletZlib",
            ],
            swiftSettings: settings),

        // What several of the tests share.
        .target(
            name: "MartletTesting",
            dependencies: ["MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto", "CMartletProcess"],
            path: "Tests/MartletTesting", swiftSettings: settings),
        tests("MartletModelTests", ["MartletModel", "MartletTesting"]),
        tests("MartletHTTPTests", ["MartletHTTP"]),
        tests("MartletOpenAPITests", ["MartletOpenAPI", "MartletModel", "MartletHTTP"]),
        tests("MartletCoreTests", ["MartletCore", "MartletTesting", "MartletModel", "MartletHTTP"]),
        tests("MartletCryptoTests", ["MartletCrypto"]),
        tests("MartletACMETests", ["MartletACME", "MartletModel", "MartletHTTP", "MartletCrypto"]),
        tests(
            "MartletPushTests",
            ["MartletPush", "MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto", "MartletTesting"]),
        tests(
            "MartletNetworkTests",
            [
                "MartletNetwork", "MartletHTTP", "MartletTesting", "CMartletLinux", "CMartletOpenSSL",
                "CMartletNGHTTP2",
            ]),
        tests("MartletStorageTests", ["MartletStorage", "MartletCore", "MartletModel", "MartletTesting"]),
        tests(
            "MartletPostgresTests", ["MartletPostgres", "MartletCore", "MartletModel", "MartletHTTP", "MartletTesting"]),
        tests(
            "MartletHubAPITests",
            [
                "MartletHubAPI", "MartletCore", "MartletModel", "MartletHTTP", "MartletOpenAPI", "MartletCrypto",
                "MartletPush", "MartletTesting",
            ],
            resources: [.copy("Golden")]),
        tests(
            "MartletBackendTests",
            [
                "MartletBackend", "MartletClient", "MartletPush", "MartletCore", "MartletModel", "MartletHTTP",
                "MartletOpenAPI", "MartletCrypto", "MartletOpenIDConnect", "MartletTesting",
            ]),
        tests(
            "MartletConsoleTests",
            [
                "MartletConsole", "MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto", "MartletOpenIDConnect",
                "MartletTesting",
            ]),
        tests(
            "MartletClientTests",
            ["MartletClient", "MartletURLSession", "MartletOpenSSL", "MartletCrypto", "MartletModel"]),
        tests(
            "MartletSimulatorTests",
            [
                "MartletSimulator", "MartletPush", "MartletNetwork", "MartletCore", "MartletModel", "MartletHTTP",
                "MartletCrypto",
            ]),
        tests(
            "MartletServerTests",
            [
                "MartletServer", "MartletStorage", "MartletHubAPI", "MartletConsole", "MartletPush", "MartletACME",
                "MartletCore", "MartletModel", "MartletHTTP", "MartletOpenAPI", "MartletCrypto", "MartletTesting",
            ]),
        tests(
            "martletTests",
            [
                "martlet", "MartletServer", "MartletSimulator", "MartletClient", "MartletOpenSSL", "MartletModel",
                "MartletCrypto",
            ]),
        tests(
            "EndToEndTests",
            [
                "MartletClient", "MartletURLSession", "MartletOpenSSL", "MartletNetwork", "MartletModel", "MartletHTTP",
                "CMartletProcess",
            ]),
        .target(name: "CMartletProcess", path: "Tests/CMartletProcess"),
    ]
)

// swift-tools-version: 6.2
import PackageDescription

// Fuzz targets for libFuzzer: one for each parser of input from outside. They are a separate package, because SwiftPM
// does not allow unsafe flags in a package that others depend on. The modules are those of the main package, by symbolic
// links, compiled with coverage instrumentation and with @testable enabled.
//
// `make fuzz` in the folder above runs every target from its seeds. A new target is a folder in Sources, with a file
// and a folder `Seeds` of small inputs, and one line at the end of this file.
let instrumented: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags(["-sanitize=fuzzer,address", "-parse-as-library"]),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: instrumented)
}

func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + ["FuzzDriver"], exclude: ["Seeds"], swiftSettings: instrumented,
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])])
}

let package = Package(
    name: "martlet-fuzz",
    targets: [
        .systemLibrary(name: "CMartletOpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CMartletXML2", pkgConfig: "libxml-2.0"),
        .systemLibrary(name: "CMartletArgon2", pkgConfig: "libargon2"),
        module("MartletModel"),
        module("MartletHTTP"),
        module("MartletCore", ["MartletModel", "MartletHTTP"]),
        module("MartletOpenAPI", ["MartletModel", "MartletHTTP"]),
        module("MartletCrypto", ["CMartletOpenSSL", "CMartletArgon2"]),
        module(
            "MartletHubAPI",
            ["MartletCore", "MartletModel", "MartletHTTP", "MartletOpenAPI", "MartletCrypto", "CMartletXML2"]),
        module("MartletOpenIDConnect", ["MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto"]),
        module("MartletACME", ["MartletModel", "MartletHTTP", "MartletCrypto"]),
        module("MartletPush", ["MartletCore", "MartletModel", "MartletHTTP", "MartletCrypto"]),
        .target(name: "CLibFuzzer"),
        module("FuzzDriver", ["CLibFuzzer"]),
        fuzzer("FuzzToken", ["MartletHubAPI"]),
        fuzzer("FuzzIdentityToken", ["MartletOpenIDConnect", "MartletModel"]),
        fuzzer("FuzzACMEOrder", ["MartletACME", "MartletModel", "MartletHTTP"]),
        fuzzer("FuzzDocument", ["MartletHubAPI"]),
        fuzzer("FuzzRegistration", ["MartletHubAPI", "MartletPush"]),
        fuzzer("FuzzFilter", ["MartletHubAPI", "MartletPush"]),
        fuzzer("FuzzBatch", ["MartletHubAPI"]),
        fuzzer("FuzzHub", ["MartletHubAPI", "MartletCore", "MartletModel"]),
        fuzzer("FuzzFormData", ["MartletHTTP"]),
        fuzzer("FuzzProxyHeader", ["MartletHTTP"]),
        fuzzer("FuzzTagExpression", ["MartletModel"]),
        fuzzer("FuzzInstallation", ["MartletModel"]),
        fuzzer("FuzzInstallationPatch", ["MartletModel"]),
        fuzzer("FuzzTemplate", ["MartletHubAPI", "MartletModel"]),
        fuzzer("FuzzPageRecords", ["MartletCore"]),
        fuzzer("FuzzMessage", ["MartletPush", "MartletCore", "MartletModel"]),
    ]
)

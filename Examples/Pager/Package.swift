// swift-tools-version: 6.2
import PackageDescription

// An app of its own that uses Martlet's SDK as yours would, but for the path: yours names a URL and a version.
let package = Package(
    name: "pager",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "martlet", path: "../..")],
    targets: [
        .executableTarget(
            name: "Pager",
            dependencies: [
                .product(name: "MartletClient", package: "martlet"),
                .product(name: "MartletURLSession", package: "martlet"),
                .product(name: "MartletOpenSSL", package: "martlet"),
            ])
    ]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "MyApp",
    platforms: [.iOS(.v17)],
    dependencies: [.package(name: "martlet", path: "../martlet")],
    targets: [
        .target(
            name: "MyApp",
            dependencies: [
                .product(name: "MartletClient", package: "martlet"),
                .product(name: "MartletURLSession", package: "martlet"),
            ])
    ]
)

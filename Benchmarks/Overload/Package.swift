// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "overload",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "sidelight", path: "../..")],
  targets: [
    .executableTarget(
      name: "overload",
      dependencies: [
        .product(name: "SidelightServer", package: "sidelight"),
        .product(name: "SidelightClient", package: "sidelight"),
      ],
      path: "Sources")
  ]
)

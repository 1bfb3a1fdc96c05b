// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "call-server",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "sidelight", path: "../..")],
  targets: [
    .executableTarget(
      name: "CallServer",
      dependencies: [.product(name: "SidelightClient", package: "sidelight")])
  ]
)

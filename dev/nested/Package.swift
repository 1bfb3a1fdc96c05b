// swift-tools-version: 6.2
import PackageDescription

/// The packages inside this repository, for `dev/build`. They are built together with the traits
/// of the main package's own builds, so its modules are compiled once for all of them.
let vision: Package.Dependency.Trait =
  .trait(name: "Vision", condition: .when(traits: ["Vision"]))

let package = Package(
  name: "nested",
  platforms: [.macOS(.v15)],
  traits: [.trait(name: "Vision", description: "Builds Sidelight with Vision")],
  dependencies: [
    .package(name: "sidelight", path: "../..", traits: ["Command", vision]),
    .package(path: "../../Benchmarks", traits: [vision]),
    .package(path: "../../Examples/CallServer", traits: [vision]),
    .package(path: "../../Examples/CustomFilters", traits: [vision]),
    .package(path: "../../Examples/CustomVision", traits: [vision]),
  ],
  targets: []
)

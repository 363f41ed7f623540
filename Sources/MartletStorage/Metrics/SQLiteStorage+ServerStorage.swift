public import MartletCore

extension SQLiteStorage: ServerStorage {
    public var nodeStore: (any NodeStore)? { nil }
    public var maps: any ProgressMaps { progressMaps }
    public var containerStore: any ContainerStore { containers }
}

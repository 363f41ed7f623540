public import MartletCore

extension SQLiteStorage: ServerStorage {
    public var maps: any ProgressMaps { progressMaps }
    public var containerStore: any ContainerStore { containers }
}

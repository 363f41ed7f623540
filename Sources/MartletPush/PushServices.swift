public import MartletCore

/// The push services that this package speaks to. A platform is a folder here and an entry in this list.
public enum PushServices {
    public static let all = PushServiceList([APNs.self])
}

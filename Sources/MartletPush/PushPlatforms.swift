public import MartletCore

/// The push platforms that this package supports.
///
/// Each platform has a folder beside this file and an entry in this list.
public enum PushPlatforms {
    public static let all = PushPlatformList([
        APNs.self, FCM.self, LegacyFCM.self, WNS.self, MPNS.self, WebPush.self, ADM.self, Baidu.self, Xiaomi.self,
    ])
}

extension PushPlatforms {
    /// Returns a simulator of every service, each with its own state.
    /// - Parameter acceptsAnyKey: Whether senders that are not registered are accepted without a check.
    public static func simulators(acceptsAnyKey: Bool) -> [any PushServiceSimulator] {
        var apns = APNsSimulator.Configuration()
        apns.acceptsAnyKey = acceptsAnyKey
        var webPush = WebPushSimulator.Configuration()
        webPush.acceptsAnyKey = acceptsAnyKey
        var fcm = FCMSimulator.Configuration()
        fcm.acceptsAnyKey = acceptsAnyKey
        var wns = WNSSimulator.Configuration()
        wns.acceptsAnyKey = acceptsAnyKey
        var mpns = MPNSSimulator.Configuration()
        mpns.acceptsAnyKey = acceptsAnyKey
        var adm = ADMSimulator.Configuration()
        adm.acceptsAnyKey = acceptsAnyKey
        return [
            APNsSimulator(apns), FCMSimulator(fcm), WebPushSimulator(webPush), WNSSimulator(wns), MPNSSimulator(mpns),
            ADMSimulator(adm),
        ]
    }
}

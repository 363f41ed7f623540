public import MartletCore

/// The push platforms that this package supports.
///
/// Each push service has a folder beside this file. Each of its platforms has an entry in `all`.
public enum PushPlatforms {
    public static let all = PushPlatformList([
        APNs.self, FCM.self, LegacyFCM.self, WNS.self, MPNS.self, WebPush.self, ADM.self, Baidu.self, Xiaomi.self,
    ])
}

extension PushPlatforms {
    /// Returns a new simulator for each push service that Martlet can send to.
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

// Own text: what Examples/Hosts/Flutter uses of Flutter.
// Source: the reference of Flutter's iOS embedder, api.flutter.dev/ios-embedder, 28 November 2026.
#pragma once
#import <Foundation/Foundation.h>
NS_ASSUME_NONNULL_BEGIN
typedef void (^FlutterResult)(id _Nullable result);
extern NSObject const *FlutterMethodNotImplemented;
@protocol FlutterBinaryMessenger <NSObject>
@end
@interface FlutterMethodCall : NSObject
@property (readonly, nonatomic) NSString *method;
@property (readonly, nonatomic, nullable) id arguments;
@end
@interface FlutterError : NSObject
+ (instancetype)errorWithCode:(NSString *)code message:(nullable NSString *)message details:(nullable id)details;
@end
@interface FlutterMethodChannel : NSObject
+ (instancetype)methodChannelWithName:(NSString *)name binaryMessenger:(NSObject<FlutterBinaryMessenger> *)messenger;
- (void)invokeMethod:(NSString *)method arguments:(nullable id)arguments;
- (void)invokeMethod:(NSString *)method arguments:(nullable id)arguments result:(nullable FlutterResult)callback;
@end
@protocol FlutterPluginRegistrar;
@protocol FlutterPlugin <NSObject>
@required
+ (void)registerWithRegistrar:(NSObject<FlutterPluginRegistrar> *)registrar;
@optional
- (void)handleMethodCall:(FlutterMethodCall *)call result:(FlutterResult)result;
@end
@protocol FlutterPluginRegistrar <NSObject>
- (NSObject<FlutterBinaryMessenger> *)messenger;
- (void)addMethodCallDelegate:(NSObject<FlutterPlugin> *)delegate channel:(FlutterMethodChannel *)channel;
@end
NS_ASSUME_NONNULL_END

use super::*;

fn of(text: &str) -> Figures {
    beans(&text.replace('\n', "\r\n")).expect("an answer of the proxy")
}

fn value(figures: &Figures, name: &str) -> Option<f64> {
    figures.get(name).copied()
}

/// As Tomcat 10.1 answers to `Catalina:type=*,name=*` with a connector for HTTP and one for AJP, shortened.
const CATALINA: &str = "\
OK - Number of results: 5

Name: Catalina:type=Executor,name=tomcatThreadPool
modelerType: org.apache.catalina.core.StandardThreadExecutor
maxThreads: 200
activeCount: 3
queueSize: 0
daemon: true
namePrefix: exec-

Name: Catalina:type=ThreadPool,name=\"http-nio-127.0.0.1-40441\"
modelerType: org.apache.tomcat.util.net.NioEndpoint
connectionCount: 12
keepAliveCount: 8
name: http-nio-127.0.0.1-40441

Name: Catalina:type=ThreadPool,name=\"ajp-nio-127.0.0.1-40442\"
modelerType: org.apache.tomcat.util.net.NioEndpoint
connectionCount: 1
keepAliveCount: 0

Name: Catalina:type=GlobalRequestProcessor,name=\"http-nio-127.0.0.1-40441\"
modelerType: org.apache.coyote.RequestGroupInfo
requestCount: 5210
processingTime: 30412
errorCount: 2
bytesSent: 123456789

Name: Catalina:type=Valve,name=StandardEngineValve
modelerType: org.apache.catalina.core.StandardEngineValve
asyncSupported: true
info: one line\\n
 and 7: more
aliases: Array[java.lang.String] of length 1
\tport: 8080

";

#[test]
fn every_bean_is_called_by_its_type_and_several_of_a_type_add_up() {
    let figures = of(CATALINA);
    for (name, expected) in [
        ("Executor.activeCount", 3.0),
        ("Executor.maxThreads", 200.0),
        ("Executor.daemon", 1.0),
        ("ThreadPool.connectionCount", 13.0),
        ("ThreadPool.keepAliveCount", 8.0),
        ("GlobalRequestProcessor.requestCount", 5210.0),
        ("GlobalRequestProcessor.processingTime", 30412.0),
        ("GlobalRequestProcessor.errorCount", 2.0),
        ("Valve.asyncSupported", 1.0),
    ] {
        assert_eq!(value(&figures, name), Some(expected), "{name} in {figures:#?}");
    }
    assert!(!figures.contains_key("Executor.namePrefix"), "what is no number is left out");
    let spilt = figures.keys().any(|name| name.ends_with("port") || name.contains('7'));
    assert!(!spilt, "what goes on in the next line is no attribute: {figures:#?}");
}

const BOTH_WAYS: [&str; 2] = [
    "{committed=536870912, init=536870912, max=536870912, used=48234496}",
    "javax.management.openmbean.CompositeDataSupport(compositeType=javax.management.openmbean.CompositeType(\
     name=java.lang.management.MemoryUsage,items=((itemName=committed,itemType=\
     javax.management.openmbean.SimpleType(name=java.lang.Long)),(itemName=used,itemType=\
     javax.management.openmbean.SimpleType(name=java.lang.Long)))),\
     contents={committed=536870912, init=536870912, max=536870912, used=48234496})",
];

#[test]
fn an_attribute_of_several_items_is_read_as_tomcat_and_as_the_jvm_write_it() {
    for usage in BOTH_WAYS {
        let figures = of(&format!(
            "OK - Number of results: 1\n\nName: java.lang:type=Memory\nmodelerType: \
             sun.management.MemoryImpl\nHeapMemoryUsage: {usage}\nVerbose: false\nObjectName: \
             java.lang:type=Memory\n\n"
        ));
        assert_eq!(value(&figures, "Memory.HeapMemoryUsage.used"), Some(48_234_496.0), "{usage}");
        assert_eq!(value(&figures, "Memory.HeapMemoryUsage.max"), Some(536_870_912.0), "{usage}");
        assert_eq!(value(&figures, "Memory.Verbose"), Some(0.0), "{usage}");
    }
}

/// The attributes of a collector: one of them is called `Name`, and one holds tables of items.
fn collector(name: &str, count: u32, time_ms: u32) -> String {
    format!(
        "Name: java.lang:name={name},type=GarbageCollector\nmodelerType: \
         com.sun.management.internal.GarbageCollectorExtImpl\nLastGcInfo: {{GcThreadCount=2, duration=7, \
         memoryUsageAfterGc=javax.management.openmbean.TabularDataSupport(tabularType=x(name=y,rows=((a=1, \
         b=2))),contents={{[Metaspace]=z(contents={{key=Metaspace, duration=99}})}}), startTime=1}}\n\
         CollectionCount: {count}\nCollectionTime: {time_ms}\nMemoryPoolNames: Array[java.lang.String] of length \
         2\n\tG1 Eden Space\n\tG1 Survivor Space\nName: {name}\nValid: true\n\n"
    )
}

#[test]
fn collectors_are_told_by_what_they_do() {
    let (young, full) = (collector("G1 Young Generation", 40, 300), collector("G1 Old Generation", 2, 90));
    let figures = of(&format!("OK - Number of results: 2\n\n{young}{full}"));
    for (name, expected) in [
        ("GarbageCollector.young.CollectionCount", 40.0),
        ("GarbageCollector.full.CollectionCount", 2.0),
        ("GarbageCollector.stopped.CollectionTime", 390.0),
        ("GarbageCollector.CollectionCount", 42.0),
        ("GarbageCollector.young.LastGcInfo.duration", 7.0),
        ("GarbageCollector.young.LastGcInfo.startTime", 1.0),
    ] {
        assert_eq!(value(&figures, name), Some(expected), "{name} in {figures:#?}");
    }
    let (cycles, pauses) = (collector("ZGC Cycles", 5, 1200), collector("ZGC Pauses", 15, 3));
    let figures = of(&format!("OK - Number of results: 2\n\n{cycles}{pauses}"));
    assert_eq!(value(&figures, "GarbageCollector.stopped.CollectionTime"), Some(3.0));
    assert_eq!(value(&figures, "GarbageCollector.concurrent.CollectionTime"), Some(1200.0));
    assert_eq!(value(&figures, "GarbageCollector.young.CollectionCount"), None);
}

#[test]
fn a_pool_of_hikari_is_called_without_its_name() {
    let figures =
        of("OK - Number of results: 2\n\nName: com.zaxxer.hikari:type=Pool (HikariPool-1)\nmodelerType: \
                      com.zaxxer.hikari.pool.HikariPool\nIdleConnections: 3\nActiveConnections: 7\n\
                      TotalConnections: 10\nThreadsAwaitingConnection: 4\n\nName: \
                      com.zaxxer.hikari:type=PoolConfig (HikariPool-1)\nmodelerType: \
                      com.zaxxer.hikari.HikariConfig\nMaximumPoolSize: 10\nPoolName: HikariPool-1\n\n");
    assert_eq!(value(&figures, "Pool.ActiveConnections"), Some(7.0));
    assert_eq!(value(&figures, "Pool.ThreadsAwaitingConnection"), Some(4.0));
    assert_eq!(value(&figures, "PoolConfig.MaximumPoolSize"), Some(10.0));
}

#[test]
fn an_answer_without_beans_is_one_and_another_text_or_a_cut_one_is_none() {
    assert_eq!(beans("OK - Number of results: 0\n\n"), Some(Figures::new()));
    let half = CATALINA.split("Name: Catalina:type=Valve").next().expect("the first beans");
    for other in [
        "",
        "Error - javax.management.MalformedObjectNameException: x\n",
        "<html><body>404</body></html>\n",
        "OK - Number of results: many\n\n",
        "OK - Number of results: 1\n\nbusy: 3\n\n",
        half,
    ] {
        assert_eq!(beans(other), None, "{other:?}");
    }
}

#[test]
fn a_property_is_found_wherever_it_stands_and_whatever_a_quoted_one_holds() {
    let name = "Catalina:type=ThreadPool,name=\"http,\\\"type=x\\\"\",port=80";
    assert_eq!(property(name, "type"), Some("ThreadPool"));
    assert_eq!(property(name, "port"), Some("80"));
    assert_eq!(property("java.lang:name=Copy,type=GarbageCollector", "type"), Some("GarbageCollector"));
    assert_eq!(property("JMImplementation", "type"), None);
    assert_eq!(property("a:name=\"open", "type"), None);
}

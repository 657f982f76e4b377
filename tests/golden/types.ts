// Every type of Baton. X is what Baton prints, X_Input what it takes where the two differ.

/** Baton's own words: definitions, graphs, events, the inbox. */
export namespace run {
  /** What recovery may do with an effect that was requested and never finished. */
  export type EffectClass =
    /** Computed in process; no effect at all. */
    | "pure"
    /** Repeating it changes nothing. */
    | "idempotent"
    /** Repeated with the same key. */
    | "keyed"
    /** Asked first whether it happened. */
    | "probe"
    /** All it can change is its workspace, which is restored first. */
    | "contained"
    /** Never repeated; a person decides. */
    | "once";

  /** What a node of a compiled graph does. */
  export type NodeKind =
    /** Calls a tool. */
    | "tool"
    /** Asks a person. */
    | "human"
    /** Lets time pass, or waits for a signal. */
    | "wait"
    /** Evaluates an expression and chooses edges. */
    | "condition"
    /** Runs the nodes of its body beside each other. */
    | "parallel"
    /** Runs its body once for each item of a list. */
    | "map"
    /** Runs its body again until a condition holds. */
    | "loop"
    /** Runs another definition as a run of its own. */
    | "subrun"
    /** Checks an output by criteria and lets its body correct it. */
    | "verify"
    /** Passes when enough of the tests in its body do. */
    | "gate"
    /** Lets an agent take a turn. */
    | "agent";

  /** When a node with several incoming edges starts. */
  export type Join =
    /** Once every dependency is final; skipped counts. */
    | "all"
    /** For each arriving edge. */
    | "any";

  /** How an effect was closed. */
  export type Outcome =
    /** It happened as asked. */
    | "ok"
    /** It was tried and failed. */
    | "failed"
    /** It was called off. */
    | "cancelled"
    /** Nobody can say whether it happened. */
    | "unknown";

  /** Type of a workflow input. */
  export type InputType =
    /** Text. */
    | "string"
    /** Any number. */
    | "number"
    /** true or false. */
    | "boolean"
    /** A mapping. */
    | "object"
    /** A list. */
    | "array";

  /** A person's answer. */
  export type Decision =
    /** Go on. */
    | "approve"
    /** Stop here. */
    | "reject"
    /** Go on with other values. */
    | "modify"
    /** An unknown outcome: it did happen. */
    | "happened"
    /** An unknown outcome: it did not happen. */
    | "not_happened"
    /** An unknown outcome: ask for it again. */
    | "retry"
    /** Nobody answered in time. */
    | "timeout";

  /** Why a person is asked. */
  export type RequestKind =
    /** A step of the definition asks for approval. */
    | "approval"
    /** A step of the definition asks for words or values. */
    | "feedback"
    /** Something went on too long or too badly for a machine. */
    | "escalation"
    /** Content was held back and waits for a look. */
    | "sanitization"
    /** Nobody can say whether an effect happened. */
    | "outcome_unknown";

  /** What somebody may do; each may do what those before it may. */
  export type Role =
    /** Sees everything, changes nothing. */
    | "viewer"
    /** Starts runs and answers questions. */
    | "operator"
    /** Changes what the server itself is. */
    | "admin";

  /** One input a workflow takes. */
  export interface DefinitionInput {
    /** What it must be. @default "string" */
    type: run.InputType;
    /** What it is for. */
    description?: string;
    /** Whether it must be given when it has no default. @default true */
    required: boolean;
    /** Its value when it is not given. */
    default?: unknown;
    /** The only values taken. */
    enum?: unknown[];
  }

  /** One input a workflow takes. */
  export interface DefinitionInput_Input {
    /** What it must be. @default "string" */
    type?: run.InputType;
    /** What it is for. */
    description?: string;
    /** Whether it must be given when it has no default. @default true */
    required?: boolean;
    /** Its value when it is not given. */
    default?: unknown;
    /** The only values taken. */
    enum?: unknown[];
  }

  /** One output a workflow gives. */
  export interface DefinitionOutput {
    /** Where it comes from: a reference, or a structure of them. */
    from: unknown;
    /** Whether it may be missing at the end. @default false */
    optional: boolean;
  }

  /** One output a workflow gives. */
  export interface DefinitionOutput_Input {
    /** Where it comes from: a reference, or a structure of them. */
    from: unknown;
    /** Whether it may be missing at the end. @default false */
    optional?: boolean;
  }

  /** Whom a question goes to when nobody answers. */
  export interface DefinitionLevel {
    /** A person, role or group, as the installation names them. */
    to: string;
    /** Seconds until the next level; without one for ever. */
    timeout?: number;
  }

  /** A question to a person. */
  export interface DefinitionHuman {
    /** What is asked; references are filled in. */
    question: string;
    /** approval unless said, or feedback, escalation. */
    kind?: run.RequestKind;
    /** Seconds until the first level of escalation, or until it fails. */
    timeout?: number;
    /** Whom it goes to then, one after the other. @default [] */
    escalate: run.DefinitionLevel[];
    /** Whoever started the run may not answer. @default false */
    four_eyes: boolean;
  }

  /** A question to a person. */
  export interface DefinitionHuman_Input {
    /** What is asked; references are filled in. */
    question: string;
    /** approval unless said, or feedback, escalation. */
    kind?: run.RequestKind;
    /** Seconds until the first level of escalation, or until it fails. */
    timeout?: number;
    /** Whom it goes to then, one after the other. @default [] */
    escalate?: run.DefinitionLevel[];
    /** Whoever started the run may not answer. @default false */
    four_eyes?: boolean;
  }

  /** How long to wait, or for which signal. */
  export interface DefinitionWait {
    /** Seconds; fractions count. */
    seconds?: number;
    /** The signal that ends it. */
    signal?: string;
    /** Seconds after which a wait for a signal fails. */
    timeout?: number;
  }

  /** When a failed attempt is made again. */
  export interface DefinitionRetry {
    /** Attempts after the first. @default 3 */
    max_retries: number;
    /** Longest first delay in seconds; doubled each time. @default 1 */
    base_delay: number;
    /** Longest delay of all. @default 60 */
    max_delay: number;
    /** Error codes that are worth it; none: whatever may pass. @default [] */
    on: string[];
  }

  /** When a failed attempt is made again. */
  export interface DefinitionRetry_Input {
    /** Attempts after the first. @default 3 */
    max_retries?: number;
    /** Longest first delay in seconds; doubled each time. @default 1 */
    base_delay?: number;
    /** Longest delay of all. @default 60 */
    max_delay?: number;
    /** Error codes that are worth it; none: whatever may pass. @default [] */
    on?: string[];
  }

  /** A step that is started when this one has succeeded. */
  export interface DefinitionEdge {
    /** The step; it says `join: any`. */
    to: string;
    /** Expression; without one always. */
    when?: string;
  }

  /** Steps beside each other. */
  export interface DefinitionParallel {
    /** Its steps. */
    steps: run.DefinitionStep[];
  }

  /** Steps beside each other. */
  export interface DefinitionParallel_Input {
    /** Its steps. */
    steps: run.DefinitionStep_Input[];
  }

  /** Steps for each item of a list. */
  export interface DefinitionEach {
    /** The list: a reference, or the items. */
    over: unknown;
    /** What an item is called in expressions. @default "item" */
    as: string;
    /** Items that are worked on at once; all unless said. */
    at_once?: number;
    /** Its steps. */
    steps: run.DefinitionStep[];
  }

  /** Steps for each item of a list. */
  export interface DefinitionEach_Input {
    /** The list: a reference, or the items. */
    over: unknown;
    /** What an item is called in expressions. @default "item" */
    as?: string;
    /** Items that are worked on at once; all unless said. */
    at_once?: number;
    /** Its steps. */
    steps: run.DefinitionStep_Input[];
  }

  /** Steps that are run again. */
  export interface DefinitionLoop {
    /** Expression; the rounds end when it holds. */
    until: string;
    /** Most rounds: a number or a reference; 3 unless said. */
    max?: unknown;
    /** Its steps. */
    steps: run.DefinitionStep[];
  }

  /** Steps that are run again. */
  export interface DefinitionLoop_Input {
    /** Expression; the rounds end when it holds. */
    until: string;
    /** Most rounds: a number or a reference; 3 unless said. */
    max?: unknown;
    /** Its steps. */
    steps: run.DefinitionStep_Input[];
  }

  /** One thing an output must be. */
  export interface DefinitionCriterion {
    /** Its name. */
    name: string;
    /** Expression; `output` is what is checked. */
    check: string;
    /** Whether failing it may halt the run. @default false */
    critical: boolean;
  }

  /** One thing an output must be. */
  export interface DefinitionCriterion_Input {
    /** Its name. */
    name: string;
    /** Expression; `output` is what is checked. */
    check: string;
    /** Whether failing it may halt the run. @default false */
    critical?: boolean;
  }

  /** Criteria for a step's output, and how it is corrected. */
  export interface DefinitionVerify {
    /** The step whose output is checked; also in depends_on. */
    target: string;
    /** What it must be. */
    criteria: run.DefinitionCriterion[];
    /** How strict, how often, how long. */
    policy?: runtime.VerificationPolicy;
    /** What corrects it; the last output of them is checked then. @default [] */
    steps: run.DefinitionStep[];
  }

  /** Criteria for a step's output, and how it is corrected. */
  export interface DefinitionVerify_Input {
    /** The step whose output is checked; also in depends_on. */
    target: string;
    /** What it must be. */
    criteria: run.DefinitionCriterion_Input[];
    /** How strict, how often, how long. */
    policy?: runtime.VerificationPolicy_Input;
    /** What corrects it; the last output of them is checked then. @default [] */
    steps?: run.DefinitionStep_Input[];
  }

  /** Tests, and how many must pass. */
  export interface DefinitionGate {
    /** Share of the tests that must pass. @default 1 */
    threshold: number;
    /** Tests that must pass whatever the share. @default [] */
    required: string[];
    /** The tests. */
    steps: run.DefinitionStep[];
  }

  /** Tests, and how many must pass. */
  export interface DefinitionGate_Input {
    /** Share of the tests that must pass. @default 1 */
    threshold?: number;
    /** Tests that must pass whatever the share. @default [] */
    required?: string[];
    /** The tests. */
    steps: run.DefinitionStep_Input[];
  }

  /** An agent of this definition: who is asked, by which driver. */
  export interface DefinitionAgent {
    /** The driver: script. */
    driver: string;
    /** What the driver calls the model. @default "" */
    model: string;
    /** What the model is told first. @default "" */
    system: string;
    /** The driver's own. @default {} */
    options: { [key: string]: unknown };
  }

  /** An agent of this definition: who is asked, by which driver. */
  export interface DefinitionAgent_Input {
    /** The driver: script. */
    driver: string;
    /** What the driver calls the model. @default "" */
    model?: string;
    /** What the model is told first. @default "" */
    system?: string;
    /** The driver's own. @default {} */
    options?: { [key: string]: unknown };
  }

  /** One step: exactly one of tool, agent, human, wait, condition, workflow, parallel, map, loop, verify and gate. */
  export interface DefinitionStep {
    /** Name of the step, unique among its neighbours. */
    name: string;
    /** What it is for. */
    description?: string;
    /** The tool it calls. */
    tool?: string;
    /** The agent that takes a turn: one of `agents`, else of the registry. */
    agent?: string;
    /** The question it asks. */
    human?: run.DefinitionHuman;
    /** How long it waits. */
    wait?: run.DefinitionWait;
    /** The expression it evaluates. */
    condition?: string;
    /** Another workflow, run as a run of its own. */
    workflow?: string;
    /** Steps beside each other. */
    parallel?: run.DefinitionParallel;
    /** Steps for each item of a list. */
    map?: run.DefinitionEach;
    /** Steps that are run again. */
    loop?: run.DefinitionLoop;
    /** Criteria for an output. */
    verify?: run.DefinitionVerify;
    /** Tests that must pass. */
    gate?: run.DefinitionGate;
    /** Steps that must be final before it starts. @default [] */
    depends_on: string[];
    /** What it is given, by name. @default {} */
    inputs: { [key: string]: unknown };
    /** Outputs that become variables: output name to ctx name. @default {} */
    outputs: { [key: string]: string };
    /** Expression; it is skipped unless this holds. */
    when?: string;
    /** Expression; it is skipped when this holds. */
    unless?: string;
    /** Expression; it is run again until this holds. */
    loop_until?: string;
    /** Most rounds: a number or a reference; 3 unless said. */
    loop_max?: unknown;
    /** When a failed attempt is made again. */
    retry?: run.DefinitionRetry;
    /** Seconds one attempt may take. */
    timeout?: number;
    /** any: started by the edges that lead to it. @default "all" */
    join: run.Join;
    /** Steps with `join: any` that it starts. @default [] */
    next: run.DefinitionEdge[];
    /** A step with `join: any` that starts at once. */
    entry?: boolean;
    /** Most times it is started. */
    max_iterations?: number;
  }

  /** One step: exactly one of tool, agent, human, wait, condition, workflow, parallel, map, loop, verify and gate. */
  export interface DefinitionStep_Input {
    /** Name of the step, unique among its neighbours. */
    name: string;
    /** What it is for. */
    description?: string;
    /** The tool it calls. */
    tool?: string;
    /** The agent that takes a turn: one of `agents`, else of the registry. */
    agent?: string;
    /** The question it asks. */
    human?: run.DefinitionHuman_Input;
    /** How long it waits. */
    wait?: run.DefinitionWait;
    /** The expression it evaluates. */
    condition?: string;
    /** Another workflow, run as a run of its own. */
    workflow?: string;
    /** Steps beside each other. */
    parallel?: run.DefinitionParallel_Input;
    /** Steps for each item of a list. */
    map?: run.DefinitionEach_Input;
    /** Steps that are run again. */
    loop?: run.DefinitionLoop_Input;
    /** Criteria for an output. */
    verify?: run.DefinitionVerify_Input;
    /** Tests that must pass. */
    gate?: run.DefinitionGate_Input;
    /** Steps that must be final before it starts. @default [] */
    depends_on?: string[];
    /** What it is given, by name. @default {} */
    inputs?: { [key: string]: unknown };
    /** Outputs that become variables: output name to ctx name. @default {} */
    outputs?: { [key: string]: string };
    /** Expression; it is skipped unless this holds. */
    when?: string;
    /** Expression; it is skipped when this holds. */
    unless?: string;
    /** Expression; it is run again until this holds. */
    loop_until?: string;
    /** Most rounds: a number or a reference; 3 unless said. */
    loop_max?: unknown;
    /** When a failed attempt is made again. */
    retry?: run.DefinitionRetry_Input;
    /** Seconds one attempt may take. */
    timeout?: number;
    /** any: started by the edges that lead to it. @default "all" */
    join?: run.Join;
    /** Steps with `join: any` that it starts. @default [] */
    next?: run.DefinitionEdge[];
    /** A step with `join: any` that starts at once. */
    entry?: boolean;
    /** Most times it is started. */
    max_iterations?: number;
  }

  /** A workflow file. */
  export interface Definition {
    /** Name of the workflow. */
    name: string;
    /** The author's own version. */
    version?: unknown;
    /** What it does. */
    description?: string;
    /** The inputs it takes. @default {} */
    inputs: { [key: string]: run.DefinitionInput };
    /** The outputs it gives. @default {} */
    outputs: { [key: string]: run.DefinitionOutput };
    /** Agents of its own by their names; they go before the registry's. @default {} */
    agents: { [key: string]: run.DefinitionAgent };
    /** Its steps, in any order. */
    steps: run.DefinitionStep[];
    /** Which queue its runs wait in: pipeline, or run unless said. */
    kind?: string;
    /** Steps of a run at once; 10 unless said. */
    concurrency?: number;
    /** Seconds a whole run may take. */
    timeout?: number;
    /** Most steps that edges start, in all. */
    max_iterations?: number;
  }

  /** A workflow file. */
  export interface Definition_Input {
    /** Name of the workflow. */
    name: string;
    /** The author's own version. */
    version?: unknown;
    /** What it does. */
    description?: string;
    /** The inputs it takes. @default {} */
    inputs?: { [key: string]: run.DefinitionInput_Input };
    /** The outputs it gives. @default {} */
    outputs?: { [key: string]: run.DefinitionOutput_Input };
    /** Agents of its own by their names; they go before the registry's. @default {} */
    agents?: { [key: string]: run.DefinitionAgent_Input };
    /** Its steps, in any order. */
    steps: run.DefinitionStep_Input[];
    /** Which queue its runs wait in: pipeline, or run unless said. */
    kind?: string;
    /** Steps of a run at once; 10 unless said. */
    concurrency?: number;
    /** Seconds a whole run may take. */
    timeout?: number;
    /** Most steps that edges start, in all. */
    max_iterations?: number;
  }

  /** One declared input. */
  export interface GraphInput {
    /** Its name. */
    name: string;
    /** What it must be. */
    type: run.InputType;
    /** Whether it must be given when it has no default. */
    required: boolean;
    /** Its value when it is not given. */
    default?: unknown;
    /** The only values taken. */
    enum?: unknown[];
  }

  /** A way from one node to another of the same body. */
  export interface GraphEdge {
    /** Node that is started; its join is any. */
    to: string;
    /** Expression; without one the edge is always taken. */
    when?: string;
  }

  /** When a failed attempt is made again. */
  export interface GraphRetry {
    /** Attempts after the first. */
    max_retries: number;
    /** Longest first delay, in microseconds; doubled each time. */
    base_delay_us: number;
    /** Longest delay of all. */
    max_delay_us: number;
    /** Error codes that are worth it; none: those whose row says so. */
    on?: string[];
  }

  /** One thing an output must be. */
  export interface GraphCriterion {
    /** Its name, unique in its node. */
    name: string;
    /** Expression; `output` is what is checked. */
    check: string;
    /** Whether failing it may halt the run. @default false */
    critical: boolean;
  }

  /** One thing an output must be. */
  export interface GraphCriterion_Input {
    /** Its name, unique in its node. */
    name: string;
    /** Expression; `output` is what is checked. */
    check: string;
    /** Whether failing it may halt the run. @default false */
    critical?: boolean;
  }

  /** Whom a question goes to, and for how long. */
  export interface GraphLevel {
    /** A person, role or group, as the installation names them. */
    to: string;
    /** Until the next level; without one for ever. */
    timeout_us?: number;
  }

  /** An agent as it was when the run began. */
  export interface GraphAgent {
    /** Its name. */
    name: string;
    /** A row of llm/drivers.def. */
    driver: string;
    /** What the driver calls the model. */
    model: string;
    /** System prompt. */
    system: string;
    /** The driver's own. */
    options?: { [key: string]: unknown };
    /** Of one of its turns, where the step has no time of its own. */
    timeout_us?: number;
  }

  /** One node. */
  export interface GraphNode {
    /** Its name. */
    name: string;
    /** What it does. */
    kind: run.NodeKind;
    /** When it starts. */
    join: run.Join;
    /** What recovery may do with it. */
    class: run.EffectClass;
    /** The tool it calls. */
    tool?: string;
    /** The question it asks. */
    question?: string;
    /** How long it waits, in microseconds. */
    wait_us?: number;
    /** Nodes that must be final first. */
    depends_on: string[];
    /** What it is given: templates. */
    inputs: { [key: string]: unknown };
    /** Nodes whose outputs the templates and expressions read. */
    reads: string[];
    /** Nodes it owns. */
    body?: run.GraphNode[];
    /** Nodes it starts. */
    edges?: run.GraphEdge[];
    /** A node with join any that starts with its body. */
    entry?: boolean;
    /** Expression; false skips it. */
    when?: string;
    /** Expression; it is run again until this holds. */
    until?: string;
    /** Most rounds: a number, or a template that gives one. */
    max?: unknown;
    /** Most activations in one body. */
    max_iterations?: number;
    /** When a failed attempt is made again. */
    retry?: run.GraphRetry;
    /** Of one attempt, or of a question's first level. */
    timeout_us?: number;
    /** map: template of the list. */
    over?: unknown;
    /** map: what an item is called in expressions; item unless said. */
    as?: string;
    /** map: most bodies entered at once. */
    at_once?: number;
    /** condition: the expression. */
    value?: string;
    /** wait: ends at this signal. */
    signal?: string;
    /** human: why; approval unless said. */
    ask?: run.RequestKind;
    /** human: whom it goes to when nobody answers. */
    levels?: run.GraphLevel[];
    /** human: whoever started the run may not answer. */
    four_eyes?: boolean;
    /** verify: node whose output is checked. */
    target?: string;
    /** verify: what it must be. */
    criteria?: run.GraphCriterion[];
    /** verify: how. */
    policy?: runtime.VerificationPolicy;
    /** gate: share of tests that must pass. */
    threshold?: number;
    /** gate: tests that must pass whatever the share. */
    required?: string[];
    /** subrun: its definition, compiled. */
    graph?: run.Graph;
    /** agent: who. */
    agent?: run.GraphAgent;
    /** Outputs that become variables: output name to variable. */
    sets?: { [key: string]: string };
  }

  /** One node. */
  export interface GraphNode_Input {
    /** Its name. */
    name: string;
    /** What it does. */
    kind: run.NodeKind;
    /** When it starts. */
    join: run.Join;
    /** What recovery may do with it. */
    class: run.EffectClass;
    /** The tool it calls. */
    tool?: string;
    /** The question it asks. */
    question?: string;
    /** How long it waits, in microseconds. */
    wait_us?: number;
    /** Nodes that must be final first. */
    depends_on: string[];
    /** What it is given: templates. */
    inputs: { [key: string]: unknown };
    /** Nodes whose outputs the templates and expressions read. */
    reads: string[];
    /** Nodes it owns. */
    body?: run.GraphNode_Input[];
    /** Nodes it starts. */
    edges?: run.GraphEdge[];
    /** A node with join any that starts with its body. */
    entry?: boolean;
    /** Expression; false skips it. */
    when?: string;
    /** Expression; it is run again until this holds. */
    until?: string;
    /** Most rounds: a number, or a template that gives one. */
    max?: unknown;
    /** Most activations in one body. */
    max_iterations?: number;
    /** When a failed attempt is made again. */
    retry?: run.GraphRetry;
    /** Of one attempt, or of a question's first level. */
    timeout_us?: number;
    /** map: template of the list. */
    over?: unknown;
    /** map: what an item is called in expressions; item unless said. */
    as?: string;
    /** map: most bodies entered at once. */
    at_once?: number;
    /** condition: the expression. */
    value?: string;
    /** wait: ends at this signal. */
    signal?: string;
    /** human: why; approval unless said. */
    ask?: run.RequestKind;
    /** human: whom it goes to when nobody answers. */
    levels?: run.GraphLevel[];
    /** human: whoever started the run may not answer. */
    four_eyes?: boolean;
    /** verify: node whose output is checked. */
    target?: string;
    /** verify: what it must be. */
    criteria?: run.GraphCriterion_Input[];
    /** verify: how. */
    policy?: runtime.VerificationPolicy_Input;
    /** gate: share of tests that must pass. */
    threshold?: number;
    /** gate: tests that must pass whatever the share. */
    required?: string[];
    /** subrun: its definition, compiled. */
    graph?: run.Graph_Input;
    /** agent: who. */
    agent?: run.GraphAgent;
    /** Outputs that become variables: output name to variable. */
    sets?: { [key: string]: string };
  }

  /** One output of the workflow. */
  export interface GraphOutput {
    /** Its name. */
    name: string;
    /** Its template. */
    from: unknown;
    /** Whether it may be missing. */
    optional: boolean;
    /** Nodes whose outputs the template reads. */
    reads: string[];
  }

  /** A compiled definition. */
  export interface Graph {
    /** Name of the definition. */
    name: string;
    /** Declared inputs. */
    inputs: run.GraphInput[];
    /** Its nodes, dependencies before dependents. */
    nodes: run.GraphNode[];
    /** Its outputs. */
    outputs: run.GraphOutput[];
    /** Which queue it waits in; run unless said. */
    kind?: string;
    /** Most activations at once; 10 unless said. */
    concurrency?: number;
    /** Most activations of join any nodes in all. */
    max_iterations?: number;
    /** Of the whole run. */
    timeout_us?: number;
  }

  /** A compiled definition. */
  export interface Graph_Input {
    /** Name of the definition. */
    name: string;
    /** Declared inputs. */
    inputs: run.GraphInput[];
    /** Its nodes, dependencies before dependents. */
    nodes: run.GraphNode_Input[];
    /** Its outputs. */
    outputs: run.GraphOutput[];
    /** Which queue it waits in; run unless said. */
    kind?: string;
    /** Most activations at once; 10 unless said. */
    concurrency?: number;
    /** Most activations of join any nodes in all. */
    max_iterations?: number;
    /** Of the whole run. */
    timeout_us?: number;
  }

  /** A value: itself when short, else a reference to a blob. */
  export interface Value {
    /** The value, up to 256 bytes of JSON. */
    is?: unknown;
    /** Hash of the JSON text of a longer one. */
    sha256?: string;
    /** Its bytes. */
    size?: number;
  }

  /** Why something failed. */
  export interface Fault {
    /** A name of the error table. */
    code: string;
    /** What happened, for a person. */
    text: string;
  }

  /** What follows from a result. */
  export interface Next {
    /** Nodes that are started: edges taken. @default [] */
    then: string[];
    /** The node is run once more. @default false */
    again: boolean;
    /** The attempt failed and is made again at this time. */
    retry_at?: string;
  }

  /** What follows from a result. */
  export interface Next_Input {
    /** Nodes that are started: edges taken. @default [] */
    then?: string[];
    /** The node is run once more. @default false */
    again?: boolean;
    /** The attempt failed and is made again at this time. */
    retry_at?: string;
  }

  /** How long an append took to reach the disk, told by a later event of its run. */
  export interface Commit {
    /** Seq of its first event; left out when that is the last one too. */
    first?: number;
    /** Seq of its last event; left out when that is the one before the event that tells it. */
    last?: number;
    /** Microseconds from the time of its events until the writer had it. */
    made_us: number;
    /** Microseconds from then until it was on the disk. */
    us: number;
  }

  /** A run exists. */
  export interface Created {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Name of the definition. */
    name: string;
    /** Hash of the compiled graph, a blob. */
    definition: string;
    /** Its inputs, defaults filled in. */
    inputs: run.Value;
    /** Who started it. */
    by?: string;
    /** The run it is part of; its own id is the effect's there. */
    parent?: string;
    /** Higher ones leave the queue first; 0 unless said. */
    priority?: number;
    /** It waits in its queue: run.started follows. */
    queued?: boolean;
    /** Of the runs with this key one at a time is under way. */
    key?: string;
    /** W3C traceparent of the request that started it. */
    trace?: string;
    /** Days its events are kept once it has ended, when its start said so. */
    retention_days?: number;
  }

  /** A run exists. */
  export interface Created_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Name of the definition. */
    name: string;
    /** Hash of the compiled graph, a blob. */
    definition: string;
    /** Its inputs, defaults filled in. */
    inputs: run.Value;
    /** Who started it. */
    by?: string;
    /** The run it is part of; its own id is the effect's there. */
    parent?: string;
    /** Higher ones leave the queue first; 0 unless said. */
    priority?: number;
    /** It waits in its queue: run.started follows. */
    queued?: boolean;
    /** Of the runs with this key one at a time is under way. */
    key?: string;
    /** W3C traceparent of the request that started it. */
    trace?: string;
    /** Days its events are kept once it has ended, when its start said so. */
    retention_days?: number;
  }

  /** A pure step was computed in process; what waited only for it has started. */
  export interface StepComputed {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** What it gave. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next;
  }

  /** A pure step was computed in process; what waited only for it has started. */
  export interface StepComputed_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** What it gave. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next_Input;
  }

  /** A tool is about to be called. */
  export interface ToolRequested {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** The tool. */
    tool: string;
    /** What recovery may do. */
    class: run.EffectClass;
    /** What it is given. */
    inputs: run.Value;
    /** Git tree of the workspace before the call. */
    tree?: string;
    /** Number of this attempt; 1 unless said. */
    attempt?: number;
    /** When it is told to stop. */
    due_at?: string;
  }

  /** A tool is about to be called. */
  export interface ToolRequested_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** The tool. */
    tool: string;
    /** What recovery may do. */
    class: run.EffectClass;
    /** What it is given. */
    inputs: run.Value;
    /** Git tree of the workspace before the call. */
    tree?: string;
    /** Number of this attempt; 1 unless said. */
    attempt?: number;
    /** When it is told to stop. */
    due_at?: string;
  }

  /** A call that was open when the program ended is made again. */
  export interface ToolRestarted {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** Number of this attempt. */
    attempt: number;
  }

  /** A call that was open when the program ended is made again. */
  export interface ToolRestarted_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** Number of this attempt. */
    attempt: number;
  }

  /** A tool call is closed. */
  export interface ToolFinished {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it was closed. */
    outcome: run.Outcome;
    /** What it gave. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next;
  }

  /** A tool call is closed. */
  export interface ToolFinished_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it was closed. */
    outcome: run.Outcome;
    /** What it gave. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next_Input;
  }

  /** A wait has begun. */
  export interface TimerRequested {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** When it is over; a wait for a signal may have none. */
    due_at?: string;
    /** The signal that ends it. */
    signal?: string;
  }

  /** A wait has begun. */
  export interface TimerRequested_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** When it is over; a wait for a signal may have none. */
    due_at?: string;
    /** The signal that ends it. */
    signal?: string;
  }

  /** A wait is over. */
  export interface TimerFinished {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it was closed. */
    outcome: run.Outcome;
    /** What the signal brought. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next;
  }

  /** A wait is over. */
  export interface TimerFinished_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it was closed. */
    outcome: run.Outcome;
    /** What the signal brought. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next_Input;
  }

  /** A person is asked. */
  export interface HumanRequested {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** Why. */
    kind: run.RequestKind;
    /** What is asked. */
    question: string;
    /** What is shown with it. */
    inputs: run.Value;
    /** Hash of question and inputs: an answer is bound to it. */
    revision: string;
    /** Whom it is for. */
    to?: string;
    /** When it goes to the next level, or is over. */
    due_at?: string;
    /** Whoever started the run may not answer. */
    four_eyes?: boolean;
  }

  /** A person is asked. */
  export interface HumanRequested_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** Why. */
    kind: run.RequestKind;
    /** What is asked. */
    question: string;
    /** What is shown with it. */
    inputs: run.Value;
    /** Hash of question and inputs: an answer is bound to it. */
    revision: string;
    /** Whom it is for. */
    to?: string;
    /** When it goes to the next level, or is over. */
    due_at?: string;
    /** Whoever started the run may not answer. */
    four_eyes?: boolean;
  }

  /** Nobody answered: the question goes to somebody else. */
  export interface HumanEscalated {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** Which level it has reached. */
    level: number;
    /** Whom it is for now. */
    to: string;
    /** Until when. */
    due_at?: string;
  }

  /** Nobody answered: the question goes to somebody else. */
  export interface HumanEscalated_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** Which level it has reached. */
    level: number;
    /** Whom it is for now. */
    to: string;
    /** Until when. */
    due_at?: string;
  }

  /** A person has answered. */
  export interface HumanFinished {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it was closed. */
    outcome: run.Outcome;
    /** The answer. */
    decision: run.Decision;
    /** What the person added. */
    comment?: string;
    /** Who answered. */
    by: string;
    /** Values that came with it: modify, happened. */
    value?: run.Value;
    /** What follows from it, beside what always does. */
    next?: run.Next;
  }

  /** A person has answered. */
  export interface HumanFinished_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it was closed. */
    outcome: run.Outcome;
    /** The answer. */
    decision: run.Decision;
    /** What the person added. */
    comment?: string;
    /** Who answered. */
    by: string;
    /** Values that came with it: modify, happened. */
    value?: run.Value;
    /** What follows from it, beside what always does. */
    next?: run.Next_Input;
  }

  /** A step is not run, and its dependents go on without it. */
  export interface StepSkipped {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Why: condition, or halted. */
    reason: string;
  }

  /** A step is not run, and its dependents go on without it. */
  export interface StepSkipped_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Why: condition, or halted. */
    reason: string;
  }

  /** A pure step whose condition holds is being computed. */
  export interface StepStarted {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
  }

  /** A pure step whose condition holds is being computed. */
  export interface StepStarted_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
  }

  /** The body of a step begins. */
  export interface StepEntered {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** map: the list. */
    items?: run.Value;
    /** map: how many items. */
    count?: number;
    /** Most rounds, where the definition computes them. */
    max?: number;
  }

  /** The body of a step begins. */
  export interface StepEntered_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** map: the list. */
    items?: run.Value;
    /** map: how many items. */
    count?: number;
    /** Most rounds, where the definition computes them. */
    max?: number;
  }

  /** Everything in the body of a step is final. */
  export interface StepLeft {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** How it ended. */
    outcome: run.Outcome;
    /** What it gave. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next;
  }

  /** Everything in the body of a step is final. */
  export interface StepLeft_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** How it ended. */
    outcome: run.Outcome;
    /** What it gave. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next_Input;
  }

  /** What a gate gives. */
  export interface GateResult {
    /** How it came out. */
    status: runtime.TestGateStatus;
    /** Tests that passed. */
    passed: number;
    /** Tests that were run. */
    tests: number;
  }

  /** What a condition gives. */
  export interface ConditionResult {
    /** Value of its expression. */
    value: unknown;
  }

  /** What a question gives. */
  export interface AnswerResult {
    /** The answer. */
    decision: string;
    /** What the person added. */
    comment: string;
    /** Who answered. */
    by: string;
    /** Values that came with it. */
    value?: unknown;
  }

  /** One message of a transcript. */
  export interface TurnMessage {
    /** user or assistant. */
    role: string;
    /** Its text. */
    content: string;
  }

  /** What a model is asked. */
  export interface Turn {
    /** System prompt. */
    system: string;
    /** The transcript. */
    messages: run.TurnMessage[];
    /** The driver's own. @default {} */
    options: { [key: string]: unknown };
  }

  /** What a model is asked. */
  export interface Turn_Input {
    /** System prompt. */
    system: string;
    /** The transcript. */
    messages: run.TurnMessage[];
    /** The driver's own. @default {} */
    options?: { [key: string]: unknown };
  }

  /** A model is about to be asked. */
  export interface TurnRequested {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** The driver. */
    driver: string;
    /** The model. */
    model: string;
    /** The canonical request: system, messages, tools, parameters. */
    request: run.Value;
    /** Number of this attempt; 1 unless said. */
    attempt?: number;
    /** When it is told to stop. */
    due_at?: string;
  }

  /** A model is about to be asked. */
  export interface TurnRequested_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** The driver. */
    driver: string;
    /** The model. */
    model: string;
    /** The canonical request: system, messages, tools, parameters. */
    request: run.Value;
    /** Number of this attempt; 1 unless said. */
    attempt?: number;
    /** When it is told to stop. */
    due_at?: string;
  }

  /** The model has answered. */
  export interface TurnFinished {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it was closed. */
    outcome: run.Outcome;
    /** The reply. */
    output?: run.Value;
    /** Tokens and price, as the driver counts them. */
    usage?: { [key: string]: unknown };
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next;
  }

  /** The model has answered. */
  export interface TurnFinished_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it was closed. */
    outcome: run.Outcome;
    /** The reply. */
    output?: run.Value;
    /** Tokens and price, as the driver counts them. */
    usage?: { [key: string]: unknown };
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next_Input;
  }

  /** What a turn gives. */
  export interface TurnResult {
    /** The reply. */
    text: string;
    /** The same read as JSON, when it is an object or a list of no more than 64 KB, alone or in one fenced block. */
    json?: unknown;
  }

  /** What a turn has used. */
  export interface TurnUsage {
    /** Tokens that the model was given, those from its cache included. @default 0 */
    input_tokens: number;
    /** Tokens of its reply. @default 0 */
    output_tokens: number;
    /** Of the tokens given, those it had in its cache. @default 0 */
    cache_read_tokens: number;
    /** Of the tokens given, those it has put there. @default 0 */
    cache_creation_tokens: number;
    /** Price in dollars. @default 0 */
    cost_usd: number;
  }

  /** What a turn has used. */
  export interface TurnUsage_Input {
    /** Tokens that the model was given, those from its cache included. @default 0 */
    input_tokens?: number;
    /** Tokens of its reply. @default 0 */
    output_tokens?: number;
    /** Of the tokens given, those it had in its cache. @default 0 */
    cache_read_tokens?: number;
    /** Of the tokens given, those it has put there. @default 0 */
    cache_creation_tokens?: number;
    /** Price in dollars. @default 0 */
    cost_usd?: number;
  }

  /** Why a turn failed, whatever the driver. */
  export type TurnFault =
    /** The model is asked too often. */
    | "rate_limited"
    /** The model has too much to do. */
    | "overloaded"
    /** The model cannot be reached, or failed by itself. */
    | "unavailable"
    /** The model took longer than the driver waits. */
    | "timeout"
    /** The request, or the reply, is not what it should be. */
    | "invalid"
    /** The request is over what the model takes. */
    | "too_large"
    /** The key is missing, or is not taken. */
    | "unauthenticated"
    /** The key is taken, but not for this; or the content is refused. */
    | "forbidden"
    /** The driver itself went wrong. */
    | "internal";

  /** A turn that fails. */
  export interface ScriptFailure {
    /** How. */
    code: run.TurnFault;
    /** Why, for a person. @default "the script says so" */
    text: string;
  }

  /** A turn that fails. */
  export interface ScriptFailure_Input {
    /** How. */
    code: run.TurnFault;
    /** Why, for a person. @default "the script says so" */
    text?: string;
  }

  /** One reply of a script: for whom, and what; exactly one of text, json, fail and hang. */
  export interface ScriptReply {
    /** Only when the prompt contains this, to the letter. */
    contains?: string;
    /** Only for the step with this path, such as improve#2/draft. */
    step?: string;
    /** Only in this round: the last #n of the step's path, 1 when there is none. */
    round?: number;
    /** Only for this attempt; one after a crash counts too. */
    attempt?: number;
    /** It says this. */
    text?: string;
    /** It says this, as JSON. */
    json?: unknown;
    /** It fails. */
    fail?: run.ScriptFailure;
    /** It says nothing until it is told to stop. */
    hang?: boolean;
    /** Milliseconds before it says so. @default 0 */
    after_ms: number;
    /** In how many pieces it streams. @default 1 */
    pieces: number;
    /** What it has used. */
    usage?: run.TurnUsage;
  }

  /** One reply of a script: for whom, and what; exactly one of text, json, fail and hang. */
  export interface ScriptReply_Input {
    /** Only when the prompt contains this, to the letter. */
    contains?: string;
    /** Only for the step with this path, such as improve#2/draft. */
    step?: string;
    /** Only in this round: the last #n of the step's path, 1 when there is none. */
    round?: number;
    /** Only for this attempt; one after a crash counts too. */
    attempt?: number;
    /** It says this. */
    text?: string;
    /** It says this, as JSON. */
    json?: unknown;
    /** It fails. */
    fail?: run.ScriptFailure_Input;
    /** It says nothing until it is told to stop. */
    hang?: boolean;
    /** Milliseconds before it says so. @default 0 */
    after_ms?: number;
    /** In how many pieces it streams. @default 1 */
    pieces?: number;
    /** What it has used. */
    usage?: run.TurnUsage_Input;
  }

  /** Options of the script driver. */
  export interface ScriptOptions {
    /** The first whose conditions all hold is given. */
    replies: run.ScriptReply[];
  }

  /** Options of the script driver. */
  export interface ScriptOptions_Input {
    /** The first whose conditions all hold is given. */
    replies: run.ScriptReply_Input[];
  }

  /** A run of its own is about to begin; its id is the effect's. */
  export interface SubrunRequested {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** Name of its definition. */
    name: string;
    /** Hash of its compiled graph, a blob. */
    definition: string;
    /** What it is given. */
    inputs: run.Value;
    /** Number of this attempt; 1 unless said. */
    attempt?: number;
    /** When it is told to stop. */
    due_at?: string;
  }

  /** A run of its own is about to begin; its id is the effect's. */
  export interface SubrunRequested_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** Name of its definition. */
    name: string;
    /** Hash of its compiled graph, a blob. */
    definition: string;
    /** What it is given. */
    inputs: run.Value;
    /** Number of this attempt; 1 unless said. */
    attempt?: number;
    /** When it is told to stop. */
    due_at?: string;
  }

  /** A run of its own has ended. */
  export interface SubrunFinished {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it ended. */
    outcome: run.Outcome;
    /** Its outputs. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next;
  }

  /** A run of its own has ended. */
  export interface SubrunFinished_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Path of the activation. */
    step: string;
    /** Id of the effect, derived from run, activation, kind and ordinal; the same for every attempt. */
    effect: string;
    /** How it ended. */
    outcome: run.Outcome;
    /** Its outputs. */
    output?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** What follows from it, beside what always does. */
    next?: run.Next_Input;
  }

  /** The run has left its queue. */
  export interface Started {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
  }

  /** The run has left its queue. */
  export interface Started_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
  }

  /** Nothing new starts. */
  export interface Paused {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Who asked for it. */
    by: string;
    /** Why. */
    reason?: string;
  }

  /** Nothing new starts. */
  export interface Paused_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Who asked for it. */
    by: string;
    /** Why. */
    reason?: string;
  }

  /** The run goes on. */
  export interface Resumed {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Who asked for it. */
    by: string;
  }

  /** The run goes on. */
  export interface Resumed_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Who asked for it. */
    by: string;
  }

  /** The run is called off: what is open is told to stop. */
  export interface Cancelling {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Who asked for it. */
    by: string;
    /** Why. */
    reason?: string;
    /** The run will have failed with this, not been cancelled: its time is over, or a limit. */
    fault?: run.Fault;
  }

  /** The run is called off: what is open is told to stop. */
  export interface Cancelling_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Who asked for it. */
    by: string;
    /** Why. */
    reason?: string;
    /** The run will have failed with this, not been cancelled: its time is over, or a limit. */
    fault?: run.Fault;
  }

  /** Somebody sent a signal. */
  export interface Signalled {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Its name. */
    name: string;
    /** What it brings. */
    data: run.Value;
    /** Who sent it. */
    by: string;
  }

  /** Somebody sent a signal. */
  export interface Signalled_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Its name. */
    name: string;
    /** What it brings. */
    data: run.Value;
    /** Who sent it. */
    by: string;
  }

  /** The run has ended. */
  export interface Finished {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** ok, failed or cancelled. */
    outcome: run.Outcome;
    /** Its outputs. */
    outputs?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
  }

  /** The run has ended. */
  export interface Finished_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** ok, failed or cancelled. */
    outcome: run.Outcome;
    /** Its outputs. */
    outputs?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
  }

  /** A document is new, another one, or gone; an event of the system stream. */
  export interface DocumentChanged {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** What it is: a row of documents.def. */
    kind: string;
    /** Its name among those of its kind. */
    name: string;
    /** Its revision from now on; they go on when a document is deleted and made again. */
    revision: number;
    /** The document as it now is; left out when it is gone. */
    body?: { [key: string]: unknown };
    /** Who changed it. */
    by: string;
  }

  /** A document is new, another one, or gone; an event of the system stream. */
  export interface DocumentChanged_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** What it is: a row of documents.def. */
    kind: string;
    /** Its name among those of its kind. */
    name: string;
    /** Its revision from now on; they go on when a document is deleted and made again. */
    revision: number;
    /** The document as it now is; left out when it is gone. */
    body?: { [key: string]: unknown };
    /** Who changed it. */
    by: string;
  }

  /** What is in use of that which there may be several of. */
  export interface Selection {
    /** Name of the profile in use. */
    active_profile: string;
  }

  /** Settings of the server that were set while it ran. */
  export interface ServerSettings {
    /** Days that events are kept. */
    log_retention_days?: number | null;
    /** Events that are kept of one run at most. */
    log_retention_max_events?: number | null;
    /** Seconds without a sign of life after which a WebSocket is closed. */
    websocket_idle_timeout_seconds?: number | null;
    /** Seconds that starting a run may take. */
    workflow_start_timeout_seconds?: number | null;
    /** Pipelines that run at the same time. */
    max_concurrent?: number | null;
  }

  /** Body of PATCH /api/server: what is given is set, null takes a setting back, the rest stays. */
  export interface ServerPatch {
    /** Set when the server starts; another one is refused here. */
    host?: string;
    /** Set when the server starts; another one is refused here. */
    port?: number;
    /** In the data folder; another one is refused here. */
    database_path?: string;
    /** Days that events are kept. */
    log_retention_days?: number | null;
    /** Events that are kept of one run at most. */
    log_retention_max_events?: number | null;
    /** Seconds without a sign of life after which a WebSocket is closed. */
    websocket_idle_timeout_seconds?: number | null;
    /** Seconds that starting a run may take. */
    workflow_start_timeout_seconds?: number | null;
    /** Pipelines that run at the same time. */
    max_concurrent?: number | null;
  }

  /** Body of PATCH /api/profiles/{name}: members of the profile as they shall be, null for those that shall be as if they were not there (RFC 7396). */
  export interface ProfilePatch {
    /** The profile's own; a profile is not renamed. */
    name?: string;
    [key: string]: unknown;
  }

  /** Body of PATCH /api/settings (RFC 7396). */
  export interface SettingsPatch {
    /** Name of the profile to be in use. */
    active_profile?: string;
    /** Profiles by name: what shall be different about each; null takes one away. */
    profiles?: { [key: string]: unknown };
  }

  /** A key to the HTTP interface as it is stored: without its secret. */
  export interface Key {
    /** Tells it from the others; a part of the key's text. */
    id: string;
    /** Whose it is or what it is for. */
    label: string;
    /** What its bearer may do. */
    role: run.Role;
    /** Hash of the secret. */
    sha256: string;
    /** When it was made. */
    created_at: string;
    /** From when on it is not taken any more. */
    expires_at?: string;
    /** Who made it. */
    created_by: string;
  }

  /** Body of POST /api/keys. */
  export interface KeyRequest {
    /** Whose it is or what it is for. */
    label: string;
    /** What its bearer may do. */
    role: run.Role;
    /** From when on it is not taken any more. */
    expires_at?: string;
  }

  /** A key as it is shown. */
  export interface KeyItem {
    /** Tells it from the others. */
    id: string;
    /** Whose it is or what it is for. */
    label: string;
    /** What its bearer may do. */
    role: run.Role;
    /** When it was made. */
    created_at: string;
    /** From when on it is not taken any more; null when never. */
    expires_at: string | null;
    /** Who made it. */
    created_by: string;
    /** The key itself, once: in the answer that made it. */
    key?: string;
  }

  /** A key as it is shown. */
  export interface KeyItem_Input {
    /** Tells it from the others. */
    id: string;
    /** Whose it is or what it is for. */
    label: string;
    /** What its bearer may do. */
    role: run.Role;
    /** When it was made. */
    created_at: string;
    /** From when on it is not taken any more; null when never. */
    expires_at?: string | null;
    /** Who made it. */
    created_by: string;
    /** The key itself, once: in the answer that made it. */
    key?: string;
  }

  /** Answer of GET /api/keys. */
  export interface KeyPage {
    /** Keys by id. */
    items: run.KeyItem[];
    /** Where the next page begins; null at the end. */
    cursor: string | null;
  }

  /** Answer of GET /api/keys. */
  export interface KeyPage_Input {
    /** Keys by id. */
    items: run.KeyItem_Input[];
    /** Where the next page begins; null at the end. */
    cursor?: string | null;
  }

  /** Answer of GET /api/profiles. */
  export interface ProfilePage {
    /** Profiles by name. */
    items: pipeline.Profile[];
    /** Name of the profile in use; null while there is none. */
    active_profile: string | null;
    /** Where the next page begins; null at the end. */
    cursor: string | null;
  }

  /** Answer of GET /api/profiles. */
  export interface ProfilePage_Input {
    /** Profiles by name. */
    items: pipeline.Profile_Input[];
    /** Name of the profile in use; null while there is none. */
    active_profile?: string | null;
    /** Where the next page begins; null at the end. */
    cursor?: string | null;
  }

  /** What can drive an agent's model. */
  export type Driver =
    /** The claude command line. */
    | "claude"
    /** The codex command line. */
    | "codex"
    /** A model's HTTP interface. */
    | "api"
    /** No model: the replies stand in its options. */
    | "script";

  /** Which model an agent speaks with. */
  export interface AgentModel {
    /** Name of the model. */
    model: string;
    /** Base URL of the API; null leaves it to the driver. */
    endpoint: string | null;
    /** Where the API's key is found; null for one without a key, or for the driver's own. */
    api_key: string | null;
  }

  /** Which model an agent speaks with. */
  export interface AgentModel_Input {
    /** Name of the model. */
    model: string;
    /** Base URL of the API; null leaves it to the driver. */
    endpoint?: string | null;
    /** Where the API's key is found; null for one without a key, or for the driver's own. */
    api_key?: string | null;
  }

  /** An agent of the registry: what it is told, what drives it, what it may do. */
  export interface Agent {
    /** Name of the agent, unlike any other's. */
    name: string;
    /** What it is for. */
    role: string;
    /** The same for people, at more length; its role when left out. */
    description?: string;
    /** What its model is told first. */
    system_prompt: string;
    /** What it says it can do. @default [] */
    capabilities: string[];
    /** What drives its model. @default "api" */
    driver: run.Driver;
    /** The model it speaks with. */
    llm_config: run.AgentModel;
    /** How strong a model that is. @default "standard" */
    model_tier: runtime.ModelTier;
    /** How freely the model chooses its words. @default 0.7 */
    temperature: number;
    /** Options of the driver; a secret among them is a reference. @default {} */
    options: { [key: string]: unknown };
    /** Names of the tools it may use; no other is offered to it. @default [] */
    tools: string[];
    /** Where its tools run; a profile's own sandbox goes before it. @default {} */
    sandbox: pipeline.SandboxConfig;
    /** Rounds of reasoning at most. @default 10 */
    max_iterations: number;
    /** Tokens of one reply at most; null leaves it to the driver. */
    max_tokens: number | null;
    /** Time for one of its steps; null is no limit of its own. */
    timeout_seconds: number | null;
  }

  /** An agent of the registry: what it is told, what drives it, what it may do. */
  export interface Agent_Input {
    /** Name of the agent, unlike any other's. */
    name: string;
    /** What it is for. */
    role: string;
    /** The same for people, at more length; its role when left out. */
    description?: string;
    /** What its model is told first. */
    system_prompt: string;
    /** What it says it can do. @default [] */
    capabilities?: string[];
    /** What drives its model. @default "api" */
    driver?: run.Driver;
    /** The model it speaks with. */
    llm_config: run.AgentModel_Input;
    /** How strong a model that is. @default "standard" */
    model_tier?: runtime.ModelTier;
    /** How freely the model chooses its words. @default 0.7 */
    temperature?: number;
    /** Options of the driver; a secret among them is a reference. @default {} */
    options?: { [key: string]: unknown };
    /** Names of the tools it may use; no other is offered to it. @default [] */
    tools?: string[];
    /** Where its tools run; a profile's own sandbox goes before it. @default {} */
    sandbox?: pipeline.SandboxConfig_Input;
    /** Rounds of reasoning at most. @default 10 */
    max_iterations?: number;
    /** Tokens of one reply at most; null leaves it to the driver. */
    max_tokens?: number | null;
    /** Time for one of its steps; null is no limit of its own. */
    timeout_seconds?: number | null;
  }

  /** Answer of GET /api/agents?view=run. */
  export interface AgentPage {
    /** Agents by name. */
    items: run.Agent[];
    /** Where the next page begins; null at the end. */
    cursor: string | null;
  }

  /** Answer of GET /api/agents?view=run. */
  export interface AgentPage_Input {
    /** Agents by name. */
    items: run.Agent_Input[];
    /** Where the next page begins; null at the end. */
    cursor?: string | null;
  }

  /** Answer of GET /api/agents?view=graph; the next page is in the Link header. */
  export interface GraphAgents {
    /** Agents by name. */
    agents: graph.Agent[];
  }

  /** Answer of GET /api/agents?view=graph; the next page is in the Link header. */
  export interface GraphAgents_Input {
    /** Agents by name. */
    agents: graph.Agent_Input[];
  }

  /** What becomes of a due time while a run of the same schedule is not over. */
  export type Overlap =
    /** It passes. */
    | "skip"
    /** It waits until that run is over; they start one after the other. */
    | "queue"
    /** Its run starts all the same. */
    | "allow";

  /** What becomes of due times that passed while no server was there. */
  export type CatchUp =
    /** They have passed. */
    | "skip"
    /** One run for all of them: the oldest. */
    | "one"
    /** One run each, oldest first, SCHEDULE_WAITING at most. */
    | "all";

  /** When a definition is run by itself. */
  export interface Schedule {
    /** Its name, unlike any other's. */
    name: string;
    /** When: minute hour day month weekday, or @hourly, @daily, @weekly, @monthly, @yearly. */
    cron?: string;
    /** How often instead: 90s, 5m, 2h or 1d, counted from when it was made. */
    every?: string;
    /** Whose wall clock cron goes by: a name of the tz database, such as Europe/Berlin. @default "UTC" */
    time_zone: string;
    /** Name of the definition to run. */
    workflow: string;
    /** Its inputs by name. @default {} */
    inputs: { [key: string]: unknown };
    /** What becomes of a due time while a run of this schedule is not over. @default "skip" */
    overlap: run.Overlap;
    /** What becomes of due times that passed while no server was there. @default "one" */
    catch_up: run.CatchUp;
    /** Whether nothing comes due for now. @default false */
    paused: boolean;
  }

  /** When a definition is run by itself. */
  export interface Schedule_Input {
    /** Its name, unlike any other's. */
    name: string;
    /** When: minute hour day month weekday, or @hourly, @daily, @weekly, @monthly, @yearly. */
    cron?: string;
    /** How often instead: 90s, 5m, 2h or 1d, counted from when it was made. */
    every?: string;
    /** Whose wall clock cron goes by: a name of the tz database, such as Europe/Berlin. @default "UTC" */
    time_zone?: string;
    /** Name of the definition to run. */
    workflow: string;
    /** Its inputs by name. @default {} */
    inputs?: { [key: string]: unknown };
    /** What becomes of a due time while a run of this schedule is not over. @default "skip" */
    overlap?: run.Overlap;
    /** What becomes of due times that passed while no server was there. @default "one" */
    catch_up?: run.CatchUp;
    /** Whether nothing comes due for now. @default false */
    paused?: boolean;
  }

  /** How far a schedule has come. */
  export interface ScheduleProgress {
    /** When the schedule was made: intervals are counted from here. */
    begun_at: string;
    /** Due times up to here have been dealt with and do not come again, whatever is changed and however the clock is set. */
    seen_at?: string;
    /** When it comes due next; null while it is paused. */
    next_at: string | null;
    /** Due times whose runs have not started yet, oldest first. @default [] */
    waiting: string[];
    /** Its runs that were not over when this was written. @default [] */
    running: string[];
    /** Runs it has started. @default 0 */
    started: number;
    /** Due times that were let pass; of one long absence SCHEDULE_WAITING at most are counted. @default 0 */
    skipped: number;
    /** Due times whose run could not be started. @default 0 */
    failed: number;
    /** The newest due time that a run was started for, or could not be. */
    last_due_at: string | null;
    /** The newest of its runs. */
    last_run: string | null;
    /** Why the newest due time had no run; null when it had one. */
    last_error: string | null;
  }

  /** How far a schedule has come. */
  export interface ScheduleProgress_Input {
    /** When the schedule was made: intervals are counted from here. */
    begun_at: string;
    /** Due times up to here have been dealt with and do not come again, whatever is changed and however the clock is set. */
    seen_at?: string;
    /** When it comes due next; null while it is paused. */
    next_at?: string | null;
    /** Due times whose runs have not started yet, oldest first. @default [] */
    waiting?: string[];
    /** Its runs that were not over when this was written. @default [] */
    running?: string[];
    /** Runs it has started. @default 0 */
    started?: number;
    /** Due times that were let pass; of one long absence SCHEDULE_WAITING at most are counted. @default 0 */
    skipped?: number;
    /** Due times whose run could not be started. @default 0 */
    failed?: number;
    /** The newest due time that a run was started for, or could not be. */
    last_due_at?: string | null;
    /** The newest of its runs. */
    last_run?: string | null;
    /** Why the newest due time had no run; null when it had one. */
    last_error?: string | null;
  }

  /** A schedule and how far it has come. */
  export interface ScheduleItem {
    /** Its name, unlike any other's. */
    name: string;
    /** When: minute hour day month weekday, or @hourly, @daily, @weekly, @monthly, @yearly. */
    cron?: string;
    /** How often instead: 90s, 5m, 2h or 1d, counted from when it was made. */
    every?: string;
    /** Whose wall clock cron goes by: a name of the tz database, such as Europe/Berlin. @default "UTC" */
    time_zone: string;
    /** Name of the definition to run. */
    workflow: string;
    /** Its inputs by name. @default {} */
    inputs: { [key: string]: unknown };
    /** What becomes of a due time while a run of this schedule is not over. @default "skip" */
    overlap: run.Overlap;
    /** What becomes of due times that passed while no server was there. @default "one" */
    catch_up: run.CatchUp;
    /** Whether nothing comes due for now. @default false */
    paused: boolean;
    /** When it comes due next; null while it is paused. */
    next_at: string | null;
    /** Due times whose runs have not started yet, oldest first. @default [] */
    waiting: string[];
    /** Its runs that were not over when this was written. @default [] */
    running: string[];
    /** Runs it has started. @default 0 */
    started: number;
    /** Due times that were let pass; of one long absence SCHEDULE_WAITING at most are counted. @default 0 */
    skipped: number;
    /** Due times whose run could not be started. @default 0 */
    failed: number;
    /** The newest due time that a run was started for, or could not be. */
    last_due_at: string | null;
    /** The newest of its runs. */
    last_run: string | null;
    /** Why the newest due time had no run; null when it had one. */
    last_error: string | null;
  }

  /** A schedule and how far it has come. */
  export interface ScheduleItem_Input {
    /** Its name, unlike any other's. */
    name: string;
    /** When: minute hour day month weekday, or @hourly, @daily, @weekly, @monthly, @yearly. */
    cron?: string;
    /** How often instead: 90s, 5m, 2h or 1d, counted from when it was made. */
    every?: string;
    /** Whose wall clock cron goes by: a name of the tz database, such as Europe/Berlin. @default "UTC" */
    time_zone?: string;
    /** Name of the definition to run. */
    workflow: string;
    /** Its inputs by name. @default {} */
    inputs?: { [key: string]: unknown };
    /** What becomes of a due time while a run of this schedule is not over. @default "skip" */
    overlap?: run.Overlap;
    /** What becomes of due times that passed while no server was there. @default "one" */
    catch_up?: run.CatchUp;
    /** Whether nothing comes due for now. @default false */
    paused?: boolean;
    /** When it comes due next; null while it is paused. */
    next_at?: string | null;
    /** Due times whose runs have not started yet, oldest first. @default [] */
    waiting?: string[];
    /** Its runs that were not over when this was written. @default [] */
    running?: string[];
    /** Runs it has started. @default 0 */
    started?: number;
    /** Due times that were let pass; of one long absence SCHEDULE_WAITING at most are counted. @default 0 */
    skipped?: number;
    /** Due times whose run could not be started. @default 0 */
    failed?: number;
    /** The newest due time that a run was started for, or could not be. */
    last_due_at?: string | null;
    /** The newest of its runs. */
    last_run?: string | null;
    /** Why the newest due time had no run; null when it had one. */
    last_error?: string | null;
  }

  /** Answer of GET /api/schedules. */
  export interface SchedulePage {
    /** Schedules by name. */
    items: run.ScheduleItem[];
    /** Where the next page begins; null at the end. */
    cursor: string | null;
  }

  /** Answer of GET /api/schedules. */
  export interface SchedulePage_Input {
    /** Schedules by name. */
    items: run.ScheduleItem_Input[];
    /** Where the next page begins; null at the end. */
    cursor?: string | null;
  }

  /** A moment at which a schedule comes due. */
  export interface DueTime {
    /** When. */
    at: string;
    /** The same as the schedule's wall clock shows it, with its offset. */
    local: string;
  }

  /** Answer of GET /api/schedules/{name}/next. */
  export interface ScheduleTimes {
    /** Whose wall clock it is. */
    time_zone: string;
    /** The next due times; none while it is paused. */
    items: run.DueTime[];
  }

  /** Events of the run are gone; a snapshot stands for them. */
  export interface Compacted {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Events with a smaller seq are gone, those of the run's life cycle excepted. */
    floor: number;
  }

  /** Events of the run are gone; a snapshot stands for them. */
  export interface Compacted_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** How long earlier appends of the run took to reach the disk, as far as that was not told before. */
    commits?: run.Commit[];
    /** Events with a smaller seq are gone, those of the run's life cycle excepted. */
    floor: number;
  }

  /** A call that was made again. */
  export interface SnapshotRestart {
    /** Seq of the event that says so. */
    seq: number;
    /** When. */
    at: string;
    /** Number of that attempt. */
    attempt: number;
  }

  /** An attempt that failed, after which there was to be another. */
  export interface SnapshotAttempt {
    /** Its request, where that is not the one that started the step. */
    request?: run.SnapshotRestart;
    /** Its effect, where that is not the step's. */
    effect?: string;
    /** Seq of the event that closed it. */
    seq: number;
    /** When that was. */
    at: string;
    /** How it was closed, unless it failed. */
    outcome?: run.Outcome;
    /** Why. */
    fault?: run.Fault;
    /** What it gave all the same. */
    output?: run.Value;
    /** When the next one was due. */
    retry_at: string;
  }

  /** An event, of which nothing else need be kept. */
  export interface SnapshotMoment {
    /** Its seq. */
    seq: number;
    /** When. */
    at: string;
  }

  /** What a person was asked. */
  export interface SnapshotQuestion {
    /** Why. */
    kind: run.RequestKind;
    /** The question. */
    question: string;
    /** Revision the answer is bound to. */
    revision: string;
    /** The question's own, where it is not the step's effect: an outcome nobody knows is settled. */
    id?: string;
    /** Seq of the event that asked, where it is not the one that started the step. */
    seq?: number;
    /** When that was. */
    at?: string;
    /** Which level of people it has reached; 0 unless said. */
    level?: number;
    /** How it went from level to level. */
    passed_on?: run.SnapshotMoment[];
  }

  /** What a person answered. */
  export interface SnapshotAnswer {
    /** The answer. */
    decision: run.Decision;
    /** What the person added. */
    comment?: string;
    /** Who. */
    by: string;
    /** Seq of the event that says so, where it did not end the step. */
    seq?: number;
    /** When that was. */
    at?: string;
  }

  /** The first step of a body that failed. */
  export interface SnapshotFailure {
    /** Its path. */
    step: string;
    /** Seq of the event that ended it. */
    seq: number;
    /** Why. */
    fault: run.Fault;
  }

  /** A signal that nobody has waited for yet. */
  export interface SnapshotSignal {
    /** Its name. */
    name: string;
    /** What came with it. */
    data: run.Value;
  }

  /** A body that was entered. */
  export interface SnapshotBody {
    /** Which item of a map it is for, from 0. */
    item?: number;
    /** Its activations, in the graph's order. @default [] */
    steps: run.SnapshotStep[];
    /** The first of them that failed, where that does not follow from them. */
    failed?: run.SnapshotFailure;
    /** Nodes whose dependents go on, where that does not follow from their newest activation. */
    told?: string[];
    /** Nodes whose dependents wait, where it would follow. */
    untold?: string[];
    /** Newest activations that are forgotten, as node#n: no other one gets their number. */
    gone?: string[];
  }

  /** A body that was entered. */
  export interface SnapshotBody_Input {
    /** Which item of a map it is for, from 0. */
    item?: number;
    /** Its activations, in the graph's order. @default [] */
    steps?: run.SnapshotStep_Input[];
    /** The first of them that failed, where that does not follow from them. */
    failed?: run.SnapshotFailure;
    /** Nodes whose dependents go on, where that does not follow from their newest activation. */
    told?: string[];
    /** Nodes whose dependents wait, where it would follow. */
    untold?: string[];
    /** Newest activations that are forgotten, as node#n: no other one gets their number. */
    gone?: string[];
  }

  /** One activation; one that nothing has happened to is left out. */
  export interface SnapshotStep {
    /** Its path. */
    step: string;
    /** A word of the state table; most steps of a long run have succeeded, and do not say so. */
    state?: string;
    /** Its place in the order in which steps became ready, while it is not final. */
    arrival?: number;
    /** Seq of the event that started it; a pure step has none once it is final. */
    started_seq?: number;
    /** When that was. */
    started_at?: string;
    /** Its effect; a pure step has none. */
    effect?: string;
    /** The effect is requested and not closed. */
    open?: boolean;
    /** What the effect was given, while it is open. */
    inputs?: run.Value;
    /** Git tree of the workspace before the call, while it is open. */
    tree?: string;
    /** When a wait is over, or something is due. */
    due_at?: string;
    /** Of those that follow from one another; 1 unless said. */
    round?: number;
    /** Number of the attempt; 1 unless said. */
    attempt?: number;
    /** Attempts that failed and were made again; 0 unless said. */
    retries?: number;
    /** Its outcome is not known and a person is asked. */
    settling?: boolean;
    /** It has the workspace. */
    workspace?: boolean;
    /** Why it was skipped. */
    reason?: string;
    /** A verification: when its first round began. */
    begun_at?: string;
    /** What the round before this one gave. */
    before?: run.Value;
    /** A map's items. */
    items?: run.Value;
    /** How many there are. */
    item_count?: number;
    /** How many of them have a body. */
    entered?: number;
    /** Everything in its bodies is final. */
    leaving?: boolean;
    /** Its bodies, oldest first, until it is final. */
    bodies?: run.SnapshotBody[];
    /** What a person was asked. */
    question?: run.SnapshotQuestion;
    /** What a person answered. */
    answer?: run.SnapshotAnswer;
    /** Every further attempt. */
    restarts?: run.SnapshotRestart[];
    /** Attempts that failed, after which there was to be another. */
    failed?: run.SnapshotAttempt[];
    /** The request of the newest attempt, where that is not the one that started it. */
    request?: run.SnapshotRestart;
    /** How the effect was closed, unless that was ok. */
    outcome?: run.Outcome;
    /** What it gave; that of a question is its answer. */
    output?: run.Value;
    /** Why it failed or was skipped. */
    fault?: run.Fault;
    /** Seq of the event that ended it. */
    ended_seq?: number;
    /** When that was. */
    ended_at?: string;
  }

  /** One activation; one that nothing has happened to is left out. */
  export interface SnapshotStep_Input {
    /** Its path. */
    step: string;
    /** A word of the state table; most steps of a long run have succeeded, and do not say so. */
    state?: string;
    /** Its place in the order in which steps became ready, while it is not final. */
    arrival?: number;
    /** Seq of the event that started it; a pure step has none once it is final. */
    started_seq?: number;
    /** When that was. */
    started_at?: string;
    /** Its effect; a pure step has none. */
    effect?: string;
    /** The effect is requested and not closed. */
    open?: boolean;
    /** What the effect was given, while it is open. */
    inputs?: run.Value;
    /** Git tree of the workspace before the call, while it is open. */
    tree?: string;
    /** When a wait is over, or something is due. */
    due_at?: string;
    /** Of those that follow from one another; 1 unless said. */
    round?: number;
    /** Number of the attempt; 1 unless said. */
    attempt?: number;
    /** Attempts that failed and were made again; 0 unless said. */
    retries?: number;
    /** Its outcome is not known and a person is asked. */
    settling?: boolean;
    /** It has the workspace. */
    workspace?: boolean;
    /** Why it was skipped. */
    reason?: string;
    /** A verification: when its first round began. */
    begun_at?: string;
    /** What the round before this one gave. */
    before?: run.Value;
    /** A map's items. */
    items?: run.Value;
    /** How many there are. */
    item_count?: number;
    /** How many of them have a body. */
    entered?: number;
    /** Everything in its bodies is final. */
    leaving?: boolean;
    /** Its bodies, oldest first, until it is final. */
    bodies?: run.SnapshotBody_Input[];
    /** What a person was asked. */
    question?: run.SnapshotQuestion;
    /** What a person answered. */
    answer?: run.SnapshotAnswer;
    /** Every further attempt. */
    restarts?: run.SnapshotRestart[];
    /** Attempts that failed, after which there was to be another. */
    failed?: run.SnapshotAttempt[];
    /** The request of the newest attempt, where that is not the one that started it. */
    request?: run.SnapshotRestart;
    /** How the effect was closed, unless that was ok. */
    outcome?: run.Outcome;
    /** What it gave; that of a question is its answer. */
    output?: run.Value;
    /** Why it failed or was skipped. */
    fault?: run.Fault;
    /** Seq of the event that ended it. */
    ended_seq?: number;
    /** When that was. */
    ended_at?: string;
  }

  /** A run's state: the fold of its events up to a seq.  What can be worked out from the graph and the steps is not in it. */
  export interface Snapshot {
    /** Version of the writer's event vocabulary. @default 1 */
    v: number;
    /** Name of the definition. */
    name: string;
    /** Hash of the compiled graph. */
    definition: string;
    /** Seq of the newest event in it. */
    seq: number;
    /** Events with a smaller seq are gone. */
    floor?: number;
    /** A word of the state table. */
    state: string;
    /** When the run was created. */
    created_at: string;
    /** When something happened to it last. */
    updated_at: string;
    /** When it ended. */
    ended_at?: string;
    /** Days its events are kept once it has ended, when its start said so. */
    retention_days?: number;
    /** Steps that have become ready. */
    arrivals: number;
    /** Activations that edges lead to; 0 unless said. */
    iterations?: number;
    /** Who started it. */
    by?: string;
    /** The run it is part of. */
    parent?: string;
    /** Higher ones leave the queue first. */
    priority?: number;
    /** Of the runs with this key one at a time is under way. */
    key?: string;
    /** When it left its queue, where that was not when it was created. */
    begun_at?: string;
    /** When its time is over. */
    due_at?: string;
    /** It waits for its turn. */
    queued?: boolean;
    /** Nothing new starts. */
    paused?: boolean;
    /** It is called off. */
    cancelling?: boolean;
    /** What it will have failed with, being called off. */
    stopped?: run.Fault;
    /** Signals nobody has waited for yet, oldest first. */
    signals?: run.SnapshotSignal[];
    /** Its inputs. */
    inputs: run.Value;
    /** Its outputs. */
    outputs?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** Its activations, in the graph's order. @default [] */
    steps: run.SnapshotStep[];
    /** The first of them that failed, where that does not follow from them. */
    failed?: run.SnapshotFailure;
    /** Nodes whose dependents go on, where that does not follow from their newest activation. */
    told?: string[];
    /** Nodes whose dependents wait, where it would follow. */
    untold?: string[];
    /** Newest activations that are forgotten, as node#n: no other one gets their number. */
    gone?: string[];
  }

  /** A run's state: the fold of its events up to a seq.  What can be worked out from the graph and the steps is not in it. */
  export interface Snapshot_Input {
    /** Version of the writer's event vocabulary. @default 1 */
    v?: number;
    /** Name of the definition. */
    name: string;
    /** Hash of the compiled graph. */
    definition: string;
    /** Seq of the newest event in it. */
    seq: number;
    /** Events with a smaller seq are gone. */
    floor?: number;
    /** A word of the state table. */
    state: string;
    /** When the run was created. */
    created_at: string;
    /** When something happened to it last. */
    updated_at: string;
    /** When it ended. */
    ended_at?: string;
    /** Days its events are kept once it has ended, when its start said so. */
    retention_days?: number;
    /** Steps that have become ready. */
    arrivals: number;
    /** Activations that edges lead to; 0 unless said. */
    iterations?: number;
    /** Who started it. */
    by?: string;
    /** The run it is part of. */
    parent?: string;
    /** Higher ones leave the queue first. */
    priority?: number;
    /** Of the runs with this key one at a time is under way. */
    key?: string;
    /** When it left its queue, where that was not when it was created. */
    begun_at?: string;
    /** When its time is over. */
    due_at?: string;
    /** It waits for its turn. */
    queued?: boolean;
    /** Nothing new starts. */
    paused?: boolean;
    /** It is called off. */
    cancelling?: boolean;
    /** What it will have failed with, being called off. */
    stopped?: run.Fault;
    /** Signals nobody has waited for yet, oldest first. */
    signals?: run.SnapshotSignal[];
    /** Its inputs. */
    inputs: run.Value;
    /** Its outputs. */
    outputs?: run.Value;
    /** Why it failed. */
    fault?: run.Fault;
    /** Its activations, in the graph's order. @default [] */
    steps?: run.SnapshotStep_Input[];
    /** The first of them that failed, where that does not follow from them. */
    failed?: run.SnapshotFailure;
    /** Nodes whose dependents go on, where that does not follow from their newest activation. */
    told?: string[];
    /** Nodes whose dependents wait, where it would follow. */
    untold?: string[];
    /** Newest activations that are forgotten, as node#n: no other one gets their number. */
    gone?: string[];
  }

  /** A question that waits for a person. */
  export interface InboxItem {
    /** Id of the request: the effect's. */
    id: string;
    /** The run that waits. */
    run_id: string;
    /** Path of the activation. */
    step: string;
    /** Why a person is asked. */
    kind: run.RequestKind;
    /** What is asked. */
    question: string;
    /** What is shown with it. */
    inputs: unknown;
    /** Revision the answer is bound to. */
    revision: string;
    /** When it was asked. */
    asked_at: string;
    /** Whom it is for, once it was passed on. */
    to?: string;
    /** When it is passed on, or over. */
    due_at?: string;
    /** Whoever started the run may not answer. */
    four_eyes?: boolean;
  }

  /** Answer of GET /api/inbox. */
  export interface InboxPage {
    /** Open requests. */
    items: run.InboxItem[];
    /** Where the next page begins; null at the end. */
    cursor: string | null;
  }

  /** Answer of GET /api/inbox. */
  export interface InboxPage_Input {
    /** Open requests. */
    items: run.InboxItem[];
    /** Where the next page begins; null at the end. */
    cursor?: string | null;
  }

  /** Body of POST /api/inbox/{id}/respond. */
  export interface InboxAnswer {
    /** approve, reject or modify; where an outcome is not known: happened, not_happened or retry. */
    decision: run.Decision;
    /** Anything to add. */
    comment?: string;
    /** modify: the values to go on with; happened: what it gave. */
    value?: unknown;
    /** The revision that was shown; another one is refused. */
    revision?: string;
    /** Who answers; filled in from the connection when left out. */
    by?: string;
  }

  /** Body of POST /api/runs/{id}/pause, resume and cancel. */
  export interface Note {
    /** Why. */
    reason?: string;
    /** Who asks for it; filled in from the connection when left out. */
    by?: string;
  }

  /** Body of POST /api/runs/{id}/signal. */
  export interface SignalRequest {
    /** Its name; a step waits for it by this. */
    name: string;
    /** What it brings; null unless said. */
    data?: unknown;
    /** Who sends it; filled in from the connection when left out. */
    by?: string;
  }

  /** A command is recorded. */
  export interface CommandReceipt {
    /** The run. */
    run_id: string;
    /** What it was told. */
    command: string;
  }

  /** Body of POST /api/runs/{id}/approve and reject. */
  export interface Verdict {
    /** Which question, where the run waits with more than one. */
    request?: string;
    /** Anything to add. */
    comment?: string;
    /** The revision that was shown; another one is refused. */
    revision?: string;
    /** Who answers; filled in from the connection when left out. */
    by?: string;
  }

  /** Where a run that waits for its turn stands. */
  export interface QueuePlace {
    /** The run. */
    run_id: string;
    /** Which queue; null when it waits in none. */
    kind: string | null;
    /** 1: it is the next of its kind; 0: it waits for no turn. */
    position: number;
    /** How many wait in that queue. */
    length: number;
  }

  /** Where a run that waits for its turn stands. */
  export interface QueuePlace_Input {
    /** The run. */
    run_id: string;
    /** Which queue; null when it waits in none. */
    kind?: string | null;
    /** 1: it is the next of its kind; 0: it waits for no turn. */
    position: number;
    /** How many wait in that queue. */
    length: number;
  }

  /** One activation of a run's node, in a few words. */
  export interface OutlineStep {
    /** Its path: improve#2/draft is the draft of the second round. */
    step: string;
    /** Path of the activation whose body it is in; none: the run's own. */
    within?: string;
    /** What its node does. */
    kind: run.NodeKind;
    /** Who does it: the tool, the agent, the workflow, or its kind. */
    agent: string;
    /** A word of the state table. */
    state: string;
    /** How often it was tried; 0 before it started. */
    attempts: number;
    /** When it started. */
    started_at?: string;
    /** When it ended. */
    ended_at?: string;
    /** When what is open is over, told to stop or passed on, or when it is tried again. */
    due_at?: string;
    /** Why it failed, was skipped or cancelled. */
    error?: string;
    /** The signal it waits for. */
    signal?: string;
    /** The question it waits with, as in the inbox. */
    request?: string;
    /** Why a person is asked. */
    asks?: run.RequestKind;
    /** What is asked. */
    question?: string;
    /** Whom, once it was passed on. */
    to?: string;
    /** The run it is carried out by. */
    subrun?: string;
  }

  /** A run and all its steps, in a few words each. */
  export interface Outline {
    /** The run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** A word of the state table. */
    state: string;
    /** It is called off; something of it is still open. */
    cancelling?: boolean;
    /** Who started it. */
    by?: string;
    /** The run it is part of. */
    parent?: string;
    /** Where it must wait for its turn, higher ones come first. */
    priority?: number;
    /** Of the runs with this word one at a time is under way. */
    alone?: string;
    /** When it was recorded. */
    created_at: string;
    /** When it began or left its queue. */
    started_at?: string;
    /** When it ended. */
    ended_at?: string;
    /** Why it failed. */
    error?: string;
    /** Where it stands, while it waits for its turn. */
    queue?: run.QueuePlace;
    /** Seq of the newest event in this. */
    seq: number;
    /** In the definition's order: a step, then what is in its body, then its next activation. */
    steps: run.OutlineStep[];
  }

  /** A run and all its steps, in a few words each. */
  export interface Outline_Input {
    /** The run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** A word of the state table. */
    state: string;
    /** It is called off; something of it is still open. */
    cancelling?: boolean;
    /** Who started it. */
    by?: string;
    /** The run it is part of. */
    parent?: string;
    /** Where it must wait for its turn, higher ones come first. */
    priority?: number;
    /** Of the runs with this word one at a time is under way. */
    alone?: string;
    /** When it was recorded. */
    created_at: string;
    /** When it began or left its queue. */
    started_at?: string;
    /** When it ended. */
    ended_at?: string;
    /** Why it failed. */
    error?: string;
    /** Where it stands, while it waits for its turn. */
    queue?: run.QueuePlace_Input;
    /** Seq of the newest event in this. */
    seq: number;
    /** In the definition's order: a step, then what is in its body, then its next activation. */
    steps: run.OutlineStep[];
  }

  /** The answer is recorded. */
  export interface InboxReceipt {
    /** The request. */
    id: string;
    /** The run that goes on. */
    run_id: string;
    /** What was recorded. */
    decision: run.Decision;
  }

  /** One stored event. */
  export interface Event {
    /** The run. */
    run_id: string;
    /** Its number within the run, from 1. */
    seq: number;
    /** Its place in the global stream; opaque. */
    position: string;
    /** When it was decided. */
    at: string;
    /** Its name. */
    type: string;
    /** Its body. */
    data: unknown;
  }

  /** A page of events. */
  export interface EventPage {
    /** Oldest first. */
    items: run.Event[];
    /** Where the next page begins; null when this one ends the stream. */
    cursor: string | null;
  }

  /** A page of events. */
  export interface EventPage_Input {
    /** Oldest first. */
    items: run.Event[];
    /** Where the next page begins; null when this one ends the stream. */
    cursor?: string | null;
  }

  /** From now on this run's events, and those of others that were subscribed to. */
  export interface SocketSubscribe {
    /** Which message this is. */
    type: "subscribe";
    /** The run. */
    workflow_id: string;
    [key: string]: unknown;
  }

  /** From now on this run's events, and those of others that were subscribed to. */
  export interface SocketSubscribe_Input {
    /** Which message this is. */
    type?: "subscribe";
    /** The run. */
    workflow_id: string;
    [key: string]: unknown;
  }

  /** No more of this run's events; without any subscription left, those of every run. */
  export interface SocketUnsubscribe {
    /** Which message this is. */
    type: "unsubscribe";
    /** The run. */
    workflow_id: string;
    [key: string]: unknown;
  }

  /** No more of this run's events; without any subscription left, those of every run. */
  export interface SocketUnsubscribe_Input {
    /** Which message this is. */
    type?: "unsubscribe";
    /** The run. */
    workflow_id: string;
    [key: string]: unknown;
  }

  /** From now on every run's events. */
  export interface SocketSubscribeAll {
    /** Which message this is. */
    type: "subscribe_all";
    [key: string]: unknown;
  }

  /** From now on every run's events. */
  export interface SocketSubscribeAll_Input {
    /** Which message this is. */
    type?: "subscribe_all";
    [key: string]: unknown;
  }

  /** Is anybody there?  Either side may ask. */
  export interface SocketPing {
    /** Which message this is. */
    type: "ping";
    [key: string]: unknown;
  }

  /** Is anybody there?  Either side may ask. */
  export interface SocketPing_Input {
    /** Which message this is. */
    type?: "ping";
    [key: string]: unknown;
  }

  /** The answer to a ping. */
  export interface SocketPong {
    /** Which message this is. */
    type: "pong";
    [key: string]: unknown;
  }

  /** The answer to a ping. */
  export interface SocketPong_Input {
    /** Which message this is. */
    type?: "pong";
    [key: string]: unknown;
  }

  /** Something happened. */
  export interface SocketEvent {
    /** Which message this is. */
    type: "event";
    /** The event. */
    payload: pipeline.WorkflowEvent;
    [key: string]: unknown;
  }

  /** Something happened. */
  export interface SocketEvent_Input {
    /** Which message this is. */
    type?: "event";
    /** The event. */
    payload: pipeline.WorkflowEvent_Input;
    [key: string]: unknown;
  }

  /** Everything that was there when the client came has been sent. */
  export interface SocketBackfillComplete {
    /** Which message this is. */
    type: "backfill_complete";
    /** Events that were sent for it. */
    count: number;
    [key: string]: unknown;
  }

  /** Everything that was there when the client came has been sent. */
  export interface SocketBackfillComplete_Input {
    /** Which message this is. */
    type?: "backfill_complete";
    /** Events that were sent for it. */
    count: number;
    [key: string]: unknown;
  }

  /** What the client asked to begin behind is not here; it is sent what comes from now on. */
  export interface SocketBackfillExpired {
    /** Which message this is. */
    type: "backfill_expired";
    /** What to do about it. */
    message: string;
    [key: string]: unknown;
  }

  /** What the client asked to begin behind is not here; it is sent what comes from now on. */
  export interface SocketBackfillExpired_Input {
    /** Which message this is. */
    type?: "backfill_expired";
    /** What to do about it. */
    message: string;
    [key: string]: unknown;
  }

  /** What a client may say on /ws/events. */
  export type SocketRequest =
    | (run.SocketSubscribe & { type: "subscribe" })
    | (run.SocketUnsubscribe & { type: "unsubscribe" })
    | (run.SocketSubscribeAll & { type: "subscribe_all" })
    | (run.SocketPing & { type: "ping" })
    | (run.SocketPong & { type: "pong" });

  /** What a client may say on /ws/events. */
  export type SocketRequest_Input =
    | (run.SocketSubscribe_Input & { type: "subscribe" })
    | (run.SocketUnsubscribe_Input & { type: "unsubscribe" })
    | (run.SocketSubscribeAll_Input & { type: "subscribe_all" })
    | (run.SocketPing_Input & { type: "ping" })
    | (run.SocketPong_Input & { type: "pong" });

  /** What the server says on /ws/events. */
  export type SocketMessage =
    | (run.SocketEvent & { type: "event" })
    | (run.SocketPing & { type: "ping" })
    | (run.SocketPong & { type: "pong" })
    | (run.SocketBackfillComplete & { type: "backfill_complete" })
    | (run.SocketBackfillExpired & { type: "backfill_expired" });

  /** What the server says on /ws/events. */
  export type SocketMessage_Input =
    | (run.SocketEvent_Input & { type: "event" })
    | (run.SocketPing_Input & { type: "ping" })
    | (run.SocketPong_Input & { type: "pong" })
    | (run.SocketBackfillComplete_Input & { type: "backfill_complete" })
    | (run.SocketBackfillExpired_Input & { type: "backfill_expired" });

  /** Answer of GET /health. */
  export interface Health {
    /** That of the component which is worst. */
    status: task.HealthStatus;
    /** The program's version. */
    version: string;
    /** Since the server began. */
    uptime_seconds: number;
    /** How each component is, with the figures that say so. */
    components: task.HealthCheckEvent[];
  }

  /** Answer of GET /health. */
  export interface Health_Input {
    /** That of the component which is worst. */
    status: task.HealthStatus;
    /** The program's version. */
    version: string;
    /** Since the server began. */
    uptime_seconds: number;
    /** How each component is, with the figures that say so. */
    components: task.HealthCheckEvent_Input[];
  }

  /** A supervisor's question, answered. */
  export interface Probe {
    /** ok, or what keeps it from being ok: recovering or draining. */
    status: string;
    /** The same in a sentence. */
    reason?: string;
  }

  /** One thing wrong with a document. */
  export interface ProblemPlace {
    /** JSON pointer of the place. */
    pointer: string;
    /** Line in the text, from 1. */
    line?: number;
    /** Column in the text, from 1. */
    column?: number;
    /** What is wrong. */
    text: string;
  }

  /** An error answer (RFC 9457, with the fields the seeds' clients read). */
  export interface Problem {
    /** Kind of problem. @default "about:blank" */
    type: string;
    /** The error's own sentence. */
    title: string;
    /** HTTP status. */
    status: number;
    /** What happened here, and what to do. */
    detail: string;
    /** The same as detail, for clients that read `error`. */
    error: string;
    /** A name of the error table. */
    code: string;
    /** Every problem of the document. @default [] */
    details: run.ProblemPlace[];
  }

  /** An error answer (RFC 9457, with the fields the seeds' clients read). */
  export interface Problem_Input {
    /** Kind of problem. @default "about:blank" */
    type?: string;
    /** The error's own sentence. */
    title: string;
    /** HTTP status. */
    status: number;
    /** What happened here, and what to do. */
    detail: string;
    /** The same as detail, for clients that read `error`. */
    error: string;
    /** A name of the error table. */
    code: string;
    /** Every problem of the document. @default [] */
    details?: run.ProblemPlace[];
  }

  /** What a run's row keeps for lists. */
  export interface Summary {
    /** Steps that have ended. */
    steps_ended: number;
    /** Steps it has. */
    steps: number;
    /** Why it failed. */
    error?: string;
    /** Days its events are kept once it has ended, when its start said so. */
    retention_days?: number;
  }

  /** What a moment of a run went into. */
  export type Share =
    /** A model was asked. */
    | "model"
    /** A tool was at work. */
    | "tool"
    /** A run of its own was under way; that run says what its time went into. */
    | "subrun"
    /** Somebody had paused it. */
    | "paused"
    /** A person was asked. */
    | "human"
    /** A wait, a signal or the next attempt was to come. */
    | "wait"
    /** It waited for its turn. */
    | "queue"
    /** What was decided was on its way to the disk. */
    | "fsync"
    /** None of these: Baton itself was at work. */
    | "engine";

  /** A stretch of time by what it went into, in microseconds; the parts add up to the whole. */
  export interface Shares {
    /** A model was asked. */
    model: number;
    /** A tool was at work. */
    tool: number;
    /** A run of its own was under way. */
    subrun: number;
    /** Somebody had paused it. */
    paused: number;
    /** A person was asked. */
    human: number;
    /** A wait, a signal or the next attempt was to come. */
    wait: number;
    /** It waited for its turn. */
    queue: number;
    /** What was decided was on its way to the disk, as far as that was measured. */
    fsync: number;
    /** None of these. */
    engine: number;
  }

  /** A stretch of a run's time that went into one thing. */
  export interface TimePiece {
    /** Into what. */
    share: run.Share;
    /** Microseconds after the run's creation. */
    from_us: number;
    /** How long. */
    us: number;
  }

  /** Where a run's time went. */
  export interface Time {
    /** The run. */
    run_id: string;
    /** When it was created. */
    from: string;
    /** When it ended, or now. */
    to: string;
    /** Whether it has. */
    ended: boolean;
    /** Microseconds between the two. */
    wall_us: number;
    /** They add up to wall_us. */
    shares: run.Shares;
    /** The same one after the other, from the beginning. */
    pieces: run.TimePiece[];
    /** Further pieces, behind those. */
    pieces_left_out: number;
    /** Appends whose way to the disk was measured; that of the others counts as what it was for. */
    commits: number;
    /** Older events are gone: rounds before the last, and what they waited for, count as engine. */
    compacted: boolean;
  }

  /** Something that took time, and what it consisted of. */
  export interface Span {
    /** The run's definition, the path of an activation, or which attempt. */
    name: string;
    /** run, a kind of node, or call. */
    kind: string;
    /** A word of the state table. */
    state: string;
    /** Microseconds after the run's creation. */
    from_us: number;
    /** How long, so far while it goes on. */
    us: number;
    /** What it consisted of. */
    spans: run.Span[];
    /** Spans in it that are not shown: they lie deeper than was asked for, or there were too many. */
    left_out?: number;
  }

  /** Answer of POST /api/runs/profile: a run that was made to see where its time goes. */
  export interface ExecutionProfile {
    /** The run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** How it ended, in S2's words. */
    status: string;
    /** Where its time went. */
    time: run.Time;
    /** The run as a tree of spans. */
    span: run.Span;
  }

  /** A node of a run's graph, as a box. */
  export interface PictureNode {
    /** Its place in the definition: names of nodes, without rounds and items. */
    path: string;
    /** Path of the node whose body it is in. */
    within?: string;
    /** Its name. */
    name: string;
    /** What it does. */
    kind: run.NodeKind;
    /** Who does it: the tool, the agent, the workflow, or its kind. */
    by: string;
    /** A word of the state table: of its activations the one that matters most now. */
    state: string;
    /** How often it was begun or passed over: rounds, items. */
    activations: number;
    /** How many of them are not over. */
    live: number;
    /** How many have succeeded. */
    succeeded: number;
    /** How many have failed. */
    failed: number;
    /** map: items of its newest activation. */
    items?: number;
    /** Steps from where its body begins, by the longest way. */
    layer: number;
    /** Left edge, in pixels of the whole picture. */
    x: number;
    /** Upper edge. */
    y: number;
    /** Width; one with a body is as wide as that needs. */
    width: number;
    /** Height. */
    height: number;
  }

  /** A place in a run's graph, in pixels. */
  export interface PicturePoint {
    /** From the left. */
    x: number;
    /** From above. */
    y: number;
  }

  /** A way from one box to another of the same body. */
  export interface PictureEdge {
    /** Path of the node it leads from. */
    from: string;
    /** Path of the node it leads to. */
    to: string;
    /** The second waits for the first; else the first starts the second. */
    depends: boolean;
    /** It leads back: it closes a cycle. */
    back: boolean;
    /** The condition it is taken on. */
    when?: string;
    /** Where it goes between the boxes that are in its way: for each row of them a point above and one below. @default [] */
    via: run.PicturePoint[];
  }

  /** A way from one box to another of the same body. */
  export interface PictureEdge_Input {
    /** Path of the node it leads from. */
    from: string;
    /** Path of the node it leads to. */
    to: string;
    /** The second waits for the first; else the first starts the second. */
    depends: boolean;
    /** It leads back: it closes a cycle. */
    back: boolean;
    /** The condition it is taken on. */
    when?: string;
    /** Where it goes between the boxes that are in its way: for each row of them a point above and one below. @default [] */
    via?: run.PicturePoint[];
  }

  /** A run's graph, laid out; where things stand depends on the definition alone. */
  export interface Picture {
    /** The run. */
    run_id: string;
    /** The run's: a word of the state table. */
    state: string;
    /** Seq of the newest event in it. */
    seq: number;
    /** Of the whole, in pixels. */
    width: number;
    /** Of the whole. */
    height: number;
    /** A node before those of its body. */
    nodes: run.PictureNode[];
    /** Between nodes that are shown. */
    edges: run.PictureEdge[];
    /** Nodes that are not shown, and with them their edges. */
    nodes_left_out: number;
    /** Edges between shown nodes that are not shown. */
    edges_left_out: number;
  }

  /** A run's graph, laid out; where things stand depends on the definition alone. */
  export interface Picture_Input {
    /** The run. */
    run_id: string;
    /** The run's: a word of the state table. */
    state: string;
    /** Seq of the newest event in it. */
    seq: number;
    /** Of the whole, in pixels. */
    width: number;
    /** Of the whole. */
    height: number;
    /** A node before those of its body. */
    nodes: run.PictureNode[];
    /** Between nodes that are shown. */
    edges: run.PictureEdge_Input[];
    /** Nodes that are not shown, and with them their edges. */
    nodes_left_out: number;
    /** Edges between shown nodes that are not shown. */
    edges_left_out: number;
  }

  /** Inputs of the shell tool. */
  export interface ShellInputs {
    /** What sh -c runs, in the run's workspace. */
    command: string;
    /** Ended after this long. @default 300 */
    timeout_seconds: number;
  }

  /** Inputs of the shell tool. */
  export interface ShellInputs_Input {
    /** What sh -c runs, in the run's workspace. */
    command: string;
    /** Ended after this long. @default 300 */
    timeout_seconds?: number;
  }

  /** Outputs of the shell tool. */
  export interface ShellOutputs {
    /** Exit status. */
    exit_code: number;
    /** Its standard output, up to the limit. */
    stdout: string;
    /** Its standard error, up to the limit. */
    stderr: string;
    /** Bytes of both that were over the limit. */
    dropped?: number;
  }

  /** Inputs of the sleep tool. */
  export interface SleepInputs {
    /** How long; fractions count. */
    seconds: number;
  }

  /** Outputs of the sleep tool. */
  export interface SleepOutputs {
    /** How long it was asked to be. */
    seconds: number;
  }

  /** How bytes stand in JSON. */
  export type Encoding =
    /** As they are; they must be UTF-8. */
    | "text"
    /** Four characters for three bytes. */
    | "base64";

  /** Inputs of the read_file tool. */
  export interface ReadFileInputs {
    /** The file, from the workspace on; links must stay within it. */
    path: string;
    /** How the content is given. @default "text" */
    encoding: run.Encoding;
    /** Bytes to leave out at the beginning. @default 0 */
    offset: number;
    /** Most bytes to give. @default 262144 */
    max_bytes: number;
  }

  /** Inputs of the read_file tool. */
  export interface ReadFileInputs_Input {
    /** The file, from the workspace on; links must stay within it. */
    path: string;
    /** How the content is given. @default "text" */
    encoding?: run.Encoding;
    /** Bytes to leave out at the beginning. @default 0 */
    offset?: number;
    /** Most bytes to give. @default 262144 */
    max_bytes?: number;
  }

  /** Outputs of the read_file tool. */
  export interface ReadFileOutputs {
    /** The file. */
    path: string;
    /** What is in it. */
    content: string;
    /** How that is given. */
    encoding: run.Encoding;
    /** Bytes of the whole file. */
    size: number;
    /** Whether more follows behind what was given. */
    truncated: boolean;
  }

  /** Inputs of the write_file tool. */
  export interface WriteFileInputs {
    /** The file, from the workspace on; missing folders are made, a link in its place is refused. */
    path: string;
    /** What shall be in it, all of it. */
    content: string;
    /** How the content is given. @default "text" */
    encoding: run.Encoding;
    /** Whether a file that is there is replaced; else that is a conflict. @default true */
    overwrite: boolean;
  }

  /** Inputs of the write_file tool. */
  export interface WriteFileInputs_Input {
    /** The file, from the workspace on; missing folders are made, a link in its place is refused. */
    path: string;
    /** What shall be in it, all of it. */
    content: string;
    /** How the content is given. @default "text" */
    encoding?: run.Encoding;
    /** Whether a file that is there is replaced; else that is a conflict. @default true */
    overwrite?: boolean;
  }

  /** Outputs of the write_file tool. */
  export interface WriteFileOutputs {
    /** The file. */
    path: string;
    /** Its bytes. */
    size: number;
    /** Their hash. */
    sha256: string;
  }

  /** Inputs of the append_line tool. */
  export interface AppendLineInputs {
    /** The file, from tools.append_root on; it and its folders are made when missing. */
    path: string;
    /** One line, without its end. */
    line: string;
  }

  /** Outputs of the append_line tool. */
  export interface AppendLineOutputs {
    /** The file. */
    path: string;
    /** The line as it stands there: with a blank and the effect's id behind it. */
    line: string;
  }

  /** One version of something a run made and keeps. */
  export interface Artifact {
    /** What it is called, such as report.md or docs/plan.md. */
    name: string;
    /** 1, 2, 3 …: every write of the name is the next one. */
    version: number;
    /** Of its bytes; they are stored once under it, whoever wrote them. */
    sha256: string;
    /** Bytes. */
    size: number;
    /** What kind of bytes they are. */
    media_type: string;
    /** When it was written. */
    created_at: string;
    /** The call that wrote it. */
    effect: string;
  }

  /** What a run made and keeps. */
  export interface ArtifactPage {
    /** Every version, in the order in which they were written. */
    items: run.Artifact[];
  }

  /** Inputs of the write_artifact tool. */
  export interface WriteArtifactInputs {
    /** What it is called; a name that is there already gets one more version. */
    name: string;
    /** Its bytes; or else path. */
    content?: string;
    /** How the content is given. @default "text" */
    encoding: run.Encoding;
    /** The file that has its bytes, from the workspace on; links must stay within it. */
    path?: string;
    /** What kind of bytes they are; unless said, UTF-8 text, or bytes where content is base64 or path is used. */
    media_type?: string;
  }

  /** Inputs of the write_artifact tool. */
  export interface WriteArtifactInputs_Input {
    /** What it is called; a name that is there already gets one more version. */
    name: string;
    /** Its bytes; or else path. */
    content?: string;
    /** How the content is given. @default "text" */
    encoding?: run.Encoding;
    /** The file that has its bytes, from the workspace on; links must stay within it. */
    path?: string;
    /** What kind of bytes they are; unless said, UTF-8 text, or bytes where content is base64 or path is used. */
    media_type?: string;
  }

  /** Outputs of the write_artifact tool. */
  export interface WriteArtifactOutputs {
    /** What it is called. */
    name: string;
    /** Which version of the name this is. */
    version: number;
    /** Of its bytes. */
    sha256: string;
    /** Bytes. */
    size: number;
    /** What kind of bytes they are. */
    media_type: string;
  }

  /** Inputs of the read_artifact tool. */
  export interface ReadArtifactInputs {
    /** What it is called; of this run. */
    name: string;
    /** Which version; the newest unless said. */
    version?: number;
    /** How the content is given. @default "text" */
    encoding: run.Encoding;
  }

  /** Inputs of the read_artifact tool. */
  export interface ReadArtifactInputs_Input {
    /** What it is called; of this run. */
    name: string;
    /** Which version; the newest unless said. */
    version?: number;
    /** How the content is given. @default "text" */
    encoding?: run.Encoding;
  }

  /** Outputs of the read_artifact tool. */
  export interface ReadArtifactOutputs {
    /** What it is called. */
    name: string;
    /** Which version this is. */
    version: number;
    /** Of its bytes, which were compared with it. */
    sha256: string;
    /** Bytes. */
    size: number;
    /** What kind of bytes they are. */
    media_type: string;
    /** The bytes. */
    content: string;
    /** How they are given. */
    encoding: run.Encoding;
  }

  /** Methods that change nothing. */
  export type FetchMethod =
    /** The whole answer. */
    | "GET"
    /** Its head only. */
    | "HEAD";

  /** Methods that change something. */
  export type SendMethod =
    /** Take this. */
    | "POST"
    /** Have this there. */
    | "PUT"
    /** Change that. */
    | "PATCH"
    /** Have that no more. */
    | "DELETE";

  /** How long the parts of a request may take; what is not said may take as long as the whole. */
  export interface HttpWaits {
    /** Until the connection stands: name, TCP and TLS. @default 10 */
    connect_seconds: number;
    /** From then until the answer begins. */
    first_byte_seconds?: number;
    /** Between two pieces of the answer. */
    idle_seconds?: number;
  }

  /** How long the parts of a request may take; what is not said may take as long as the whole. */
  export interface HttpWaits_Input {
    /** Until the connection stands: name, TCP and TLS. @default 10 */
    connect_seconds?: number;
    /** From then until the answer begins. */
    first_byte_seconds?: number;
    /** Between two pieces of the answer. */
    idle_seconds?: number;
  }

  /** Inputs of the http_fetch tool. */
  export interface HttpFetchInputs {
    /** http:// or https://, a public address unless tools.private_addresses lists it; redirects are followed. */
    url: string;
    /** GET or HEAD. @default "GET" */
    method: run.FetchMethod;
    /** Headers of the request. @default {} */
    headers: { [key: string]: string };
    /** Ended after this long, redirects and all. @default 60 */
    timeout_seconds: number;
    /** Ended earlier when a part of it takes too long. */
    waits?: run.HttpWaits;
    /** Most bytes of the body to give. @default 262144 */
    max_bytes: number;
    /** Whether a status of 400 or more is a failure of the step. @default true */
    fail_on_status: boolean;
  }

  /** Inputs of the http_fetch tool. */
  export interface HttpFetchInputs_Input {
    /** http:// or https://, a public address unless tools.private_addresses lists it; redirects are followed. */
    url: string;
    /** GET or HEAD. @default "GET" */
    method?: run.FetchMethod;
    /** Headers of the request. @default {} */
    headers?: { [key: string]: string };
    /** Ended after this long, redirects and all. @default 60 */
    timeout_seconds?: number;
    /** Ended earlier when a part of it takes too long. */
    waits?: run.HttpWaits_Input;
    /** Most bytes of the body to give. @default 262144 */
    max_bytes?: number;
    /** Whether a status of 400 or more is a failure of the step. @default true */
    fail_on_status?: boolean;
  }

  /** Inputs of the tools http_send and http_send_once. */
  export interface HttpSendInputs {
    /** http:// or https://, a public address unless tools.private_addresses lists it; redirects are not followed. */
    url: string;
    /** POST, PUT, PATCH or DELETE. @default "POST" */
    method: run.SendMethod;
    /** Headers of the request. @default {} */
    headers: { [key: string]: string };
    /** What is sent. */
    body?: string;
    /** How the body is given. @default "text" */
    encoding: run.Encoding;
    /** What is sent, as JSON; in place of a body. */
    json?: unknown;
    /** Ended after this long. @default 60 */
    timeout_seconds: number;
    /** Ended earlier when a part of it takes too long. */
    waits?: run.HttpWaits;
    /** Most bytes of the answer's body to give. @default 262144 */
    max_bytes: number;
    /** Whether a status of 400 or more is a failure of the step. @default true */
    fail_on_status: boolean;
  }

  /** Inputs of the tools http_send and http_send_once. */
  export interface HttpSendInputs_Input {
    /** http:// or https://, a public address unless tools.private_addresses lists it; redirects are not followed. */
    url: string;
    /** POST, PUT, PATCH or DELETE. @default "POST" */
    method?: run.SendMethod;
    /** Headers of the request. @default {} */
    headers?: { [key: string]: string };
    /** What is sent. */
    body?: string;
    /** How the body is given. @default "text" */
    encoding?: run.Encoding;
    /** What is sent, as JSON; in place of a body. */
    json?: unknown;
    /** Ended after this long. @default 60 */
    timeout_seconds?: number;
    /** Ended earlier when a part of it takes too long. */
    waits?: run.HttpWaits_Input;
    /** Most bytes of the answer's body to give. @default 262144 */
    max_bytes?: number;
    /** Whether a status of 400 or more is a failure of the step. @default true */
    fail_on_status?: boolean;
  }

  /** Outputs of the http tools. */
  export interface HttpOutputs {
    /** Status of the answer. */
    status: number;
    /** Where it came from, redirects followed. */
    url: string;
    /** Its headers, names in small letters; several of one name are joined with commas. */
    headers: { [key: string]: string };
    /** Its body. */
    body: string;
    /** How the body is given: text when it is UTF-8. */
    encoding: run.Encoding;
    /** Whether the body was cut off at max_bytes. */
    truncated: boolean;
    /** The body read as JSON, when the answer says that it is and it has no more than 64 KB. */
    json?: unknown;
  }

  /** What an item of a list must meet; everything that is given must hold. */
  export interface JsonCondition {
    /** JSON pointer of what is looked at; the item itself unless said. @default "" */
    at: string;
    /** It is there and is this. */
    equals?: unknown;
    /** It is not there or is not this. */
    differs?: unknown;
    /** It is there, or with false it is not. */
    exists?: boolean;
    /** It is a number, this or more. */
    at_least?: number;
    /** It is a number, this or less. */
    at_most?: number;
  }

  /** What an item of a list must meet; everything that is given must hold. */
  export interface JsonCondition_Input {
    /** JSON pointer of what is looked at; the item itself unless said. @default "" */
    at?: string;
    /** It is there and is this. */
    equals?: unknown;
    /** It is not there or is not this. */
    differs?: unknown;
    /** It is there, or with false it is not. */
    exists?: boolean;
    /** It is a number, this or more. */
    at_least?: number;
    /** It is a number, this or less. */
    at_most?: number;
  }

  /** One thing done to a JSON value. */
  export interface JsonOperation {
    /** What stands at this JSON pointer; nothing there is a failure. */
    get?: string;
    /** Only these members, in this order; missing ones are left out. */
    pick?: string[];
    /** All members but these. */
    drop?: string[];
    /** Members under other names: old to new. */
    rename?: { [key: string]: string };
    /** These members over those that are there; null takes one away (RFC 7396). */
    merge?: { [key: string]: unknown };
    /** The value as the one member, of this name, of a mapping. */
    wrap?: string;
    /** Items of a list that meet the condition. */
    filter?: run.JsonCondition;
    /** These operations on each item of a list, or on each member's value. */
    map?: run.JsonOperation[];
    /** A JSON Schema that the value must meet. */
    check?: unknown;
  }

  /** One thing done to a JSON value. */
  export interface JsonOperation_Input {
    /** What stands at this JSON pointer; nothing there is a failure. */
    get?: string;
    /** Only these members, in this order; missing ones are left out. */
    pick?: string[];
    /** All members but these. */
    drop?: string[];
    /** Members under other names: old to new. */
    rename?: { [key: string]: string };
    /** These members over those that are there; null takes one away (RFC 7396). */
    merge?: { [key: string]: unknown };
    /** The value as the one member, of this name, of a mapping. */
    wrap?: string;
    /** Items of a list that meet the condition. */
    filter?: run.JsonCondition_Input;
    /** These operations on each item of a list, or on each member's value. */
    map?: run.JsonOperation_Input[];
    /** A JSON Schema that the value must meet. */
    check?: unknown;
  }

  /** Inputs of the json_transform tool. */
  export interface JsonTransformInputs {
    /** The value. */
    input: unknown;
    /** What is done to it, one behind the other. */
    operations: run.JsonOperation[];
  }

  /** Inputs of the json_transform tool. */
  export interface JsonTransformInputs_Input {
    /** The value. */
    input: unknown;
    /** What is done to it, one behind the other. */
    operations: run.JsonOperation_Input[];
  }

  /** Outputs of the json_transform tool. */
  export interface JsonTransformOutputs {
    /** What has become of the value. */
    result: unknown;
  }

  /** A tool of your own: tools/NAME.yaml in the data folder. */
  export interface CustomTool {
    /** What steps call it; the file's name. */
    name: string;
    /** What it does, for people and models. @default "" */
    description: string;
    /** The program and its arguments: an absolute path, or an executable beside this file. */
    command?: string[];
    /** A script beside this file, .py or .js, in place of a command. */
    path?: string;
    /** The function of the script that is called: in Python with the inputs as keywords, in JavaScript with one object. */
    function?: string;
    /** What recovery may do with a call: idempotent, keyed, contained or once. @default "once" */
    class: run.EffectClass;
    /** JSON Schema of the inputs. @default {} */
    inputs: unknown;
    /** A call is ended after this long. @default 300 */
    timeout_seconds: number;
    /** Whether one process serves call after call, in JSON lines. @default false */
    keep_alive: boolean;
    /** Whether it has this machine's network, Baton's own port included. @default false */
    network: boolean;
  }

  /** A tool of your own: tools/NAME.yaml in the data folder. */
  export interface CustomTool_Input {
    /** What steps call it; the file's name. */
    name: string;
    /** What it does, for people and models. @default "" */
    description?: string;
    /** The program and its arguments: an absolute path, or an executable beside this file. */
    command?: string[];
    /** A script beside this file, .py or .js, in place of a command. */
    path?: string;
    /** The function of the script that is called: in Python with the inputs as keywords, in JavaScript with one object. */
    function?: string;
    /** What recovery may do with a call: idempotent, keyed, contained or once. @default "once" */
    class?: run.EffectClass;
    /** JSON Schema of the inputs. @default {} */
    inputs?: unknown;
    /** A call is ended after this long. @default 300 */
    timeout_seconds?: number;
    /** Whether one process serves call after call, in JSON lines. @default false */
    keep_alive?: boolean;
    /** Whether it has this machine's network, Baton's own port included. @default false */
    network?: boolean;
  }

  /** Somebody has looked at a custom tool: as it was then, it may be called. */
  export interface Trust {
    /** The tool. */
    name: string;
    /** Hash of its definition. */
    definition: string;
    /** Hash of its program or script. */
    program: string;
    /** When. */
    trusted_at: string;
    /** Who. */
    trusted_by: string;
  }

  /** Body of POST /api/trust. */
  export interface TrustRequest {
    /** The tool, as it is in the data folder now. */
    name: string;
    /** Hash of the definition that was looked at; another one is refused. */
    definition?: string;
    /** Hash of the program that was looked at; another one is refused. */
    program?: string;
  }

  /** A tool that steps can call, or could. */
  export interface ToolItem {
    /** Its name. */
    name: string;
    /** What it does. */
    text: string;
    /** What recovery may do with a call under this isolation. */
    class: run.EffectClass;
    /** Whether it is one of the data folder's own. */
    custom: boolean;
    /** JSON Schema of its inputs. */
    inputs: unknown;
    /** JSON Schema of its outputs. */
    outputs?: unknown;
    /** Whether it can be called; what is built in always can. */
    trusted: boolean;
    /** Why it cannot. */
    reason?: string;
    /** Hash of a custom tool's definition. */
    definition?: string;
    /** Hash of its program or script. */
    program?: string;
  }

  /** Answer of GET /api/tools. */
  export interface ToolList {
    /** What is built in, then the data folder's own by name. */
    items: run.ToolItem[];
    /** Always null: it is one page. */
    cursor: string | null;
  }

  /** Answer of GET /api/tools. */
  export interface ToolList_Input {
    /** What is built in, then the data folder's own by name. */
    items: run.ToolItem[];
    /** Always null: it is one page. */
    cursor?: string | null;
  }

  /** A line that a kept-alive tool answers with. */
  export interface ToolMessage {
    /** That of the call. */
    id: string;
    /** What it gave. */
    output?: unknown;
    /** Why it failed; in place of an output. */
    error?: string;
    [key: string]: unknown;
  }

  /** What the store holds and what that takes. */
  export interface StoreStats {
    /** Runs. */
    runs: number;
    /** Events of all runs. */
    events: number;
    /** Effects that are open. */
    effects: number;
    /** Values and graphs kept under their hash. */
    values: number;
    /** Size of the database. */
    bytes: number;
    /** Its pages. */
    pages: number;
    /** Pages that hold nothing; a vacuum gives them back. */
    free_pages: number;
    /** Size of the write-ahead log beside it. */
    wal_bytes: number;
    /** Transactions since the program began. */
    commits: number;
    /** Appends in them. */
    appends: number;
    /** Transactions there was no room for. */
    refusals: number;
  }

  /** What a look at everything has found. */
  export interface StoreCheck {
    /** Nothing is wrong. */
    sound: boolean;
    /** Events that were read. */
    events: number;
    /** References to values and graphs that were followed. */
    values: number;
    /** What is wrong, a sentence each. */
    problems: string[];
  }

  /** Body of POST /api/db/backup. */
  export interface StoreCopy {
    /** Where the copy is written, from the root; it must not exist. */
    file: string;
  }

  /** A copy of the database is on the disk. */
  export interface StoreCopied {
    /** Where. */
    file: string;
    /** Its size. */
    bytes: number;
  }

  /** Body of POST /api/db/compact: what is not said is as the settings have it. */
  export interface StoreCompact {
    /** Runs that ended this many days ago, whatever they or the settings say; 0: every run that has ended. */
    days?: number;
    /** Events that are kept of one run at most. */
    max_events?: number;
  }

  /** Old runs have been looked at. */
  export interface StoreCompacted {
    /** Runs that were looked at. */
    runs: number;
    /** Runs of which events may go. */
    compacted: number;
    /** Events taken off the disk. */
    events: number;
    /** Values taken off the disk, because nothing names them any more. */
    values: number;
    /** Room in the database that holds nothing; a vacuum gives it back to the disk. */
    free_bytes: number;
    /** Contents of artifacts taken off the disk, because no run names them. */
    artifacts: number;
  }

  /** Something the store keeps in step with the events. */
  export interface StoredProjection {
    /** Its name. */
    name: string;
    /** What it is made from. */
    source: string;
    /** What it is. */
    text: string;
  }

  /** What is made from events is made again. */
  export interface StoreRebuilt {
    /** Runs that were folded anew. */
    runs: number;
    /** Effects of theirs that are open. */
    effects: number;
    /** Runs that were left out, because they are at work and write their rows themselves. */
    busy: number;
    /** Runs that are not over and that nobody had taken up. */
    resumed: number;
    /** Documents that were made anew, those that are gone included. */
    documents: number;
    /** Runs that cannot be folded, and what is wrong with the system stream, a sentence each. */
    problems: string[];
    /** What was made again. */
    projections: run.StoredProjection[];
  }

  /** Body of an open question's row. */
  export interface OpenQuestion {
    /** Path of the activation. */
    step: string;
    /** Why a person is asked. */
    kind: run.RequestKind;
    /** What is asked. */
    question: string;
    /** What is shown with it. */
    inputs: run.Value;
    /** Revision the answer is bound to. */
    revision: string;
    /** When it was asked. */
    asked_at: string;
    /** Whom it is for, once it was passed on. */
    to?: string;
    /** When it is passed on, or over. */
    due_at?: string;
    /** Whoever started the run may not answer. */
    four_eyes?: boolean;
  }

  /** Body of the row of a run that waits for its turn. */
  export interface OpenPlace {
    /** Empty: it is about the whole run. */
    step: string;
    /** Which queue it waits in. */
    kind: string;
    /** Of the runs with this key one at a time is under way. */
    key?: string;
    /** Higher ones come first. */
    priority: number;
    /** Since when. */
    queued_at: string;
  }

  /** Body of an open effect's row, unless it is a question. */
  export interface OpenEffect {
    /** Path of the activation. */
    step: string;
    /** When a wait began. */
    since?: string;
  }
}

/** From an issue to a pull request: profiles, plans, reviews, usage. */
export namespace pipeline {
  /** What drives the model. */
  export type DriverType =
    /** The claude command line. */
    | "claude"
    /** The codex command line. */
    | "codex"
    /** A model's HTTP interface. */
    | "api";

  /** Where issues come from. */
  export type TrackerType =
    /** Jira. */
    | "jira"
    /** GitHub. */
    | "github"
    /** Nowhere: what to do is given with the run. */
    | "noop";

  /** Where an agent's work stands. */
  export type AgenticStatus =
    /** At work. */
    | "running"
    /** Waits for a person's approval. */
    | "awaiting_approval"
    /** Done. */
    | "completed"
    /** Ended by an error. */
    | "failed"
    /** Called off. */
    | "cancelled";

  /** How bad what a review found is. */
  export type Severity =
    /** Must not go on like this. */
    | "critical"
    /** Has to be fixed. */
    | "major"
    /** Worth fixing. */
    | "minor"
    /** Nothing was found. */
    | "none";

  /** Where a profile's tools run. */
  export type SandboxMode =
    /** On the host itself. */
    | "none"
    /** In a Docker container. */
    | "container"
    /** In a Daytona cloud sandbox. */
    | "daytona";

  /** How a consultation ended. */
  export type ConsultationOutcome =
    /** Advice came back. */
    | "success"
    /** It failed; error_message says why. */
    | "error";

  /** Where a pipeline stands. */
  export type PipelineStatus =
    /** Recorded, not started. */
    | "pending"
    /** At work. */
    | "running"
    /** Held, by hand or for an answer. */
    | "paused"
    /** Ended well. */
    | "completed"
    /** Ended badly; error says why. */
    | "failed";

  /** What a driver's message is. */
  export type AgenticMessageType =
    /** The agent thinks or plans. */
    | "thinking"
    /** The agent calls a tool. */
    | "tool_call"
    /** A tool has answered. */
    | "tool_result"
    /** The agent's final output. */
    | "result"
    /** The tokens it took. */
    | "usage";

  /** What is done about a reviewer's remark. */
  export type Disposition =
    /** Right and in scope: it will be fixed. */
    | "implement"
    /** Technically wrong: it will not be fixed. */
    | "reject"
    /** Out of scope: kept for later. */
    | "defer"
    /** Unclear: somebody has to explain it. */
    | "clarify";

  /** What a live event of an agent is, the same for every driver. */
  export type StreamEventType =
    /** The agent thinks or plans. */
    | "claude_thinking"
    /** The agent calls a tool. */
    | "claude_tool_call"
    /** A tool has answered. */
    | "claude_tool_result"
    /** The agent's final output. */
    | "agent_output";

  /** Which part of the system an event is about. */
  export type EventDomain =
    /** Workflows. */
    | "workflow"
    /** Brainstorming sessions. */
    | "brainstorm"
    /** Consultations of the Oracle. */
    | "oracle"
    /** Documents taken into the knowledge library. */
    | "knowledge";

  /** How much an event matters, for filters and retention. */
  export type EventLevel =
    /** Worth knowing. */
    | "info"
    /** May need attention. */
    | "warning"
    /** Detail and traces. */
    | "debug"
    /** Something failed. */
    | "error";

  /** What happened. */
  export type EventType =
    /** Lifecycle: a workflow is recorded and queued. */
    | "workflow_created"
    /** Lifecycle: it has started. */
    | "workflow_started"
    /** Lifecycle: it ended well. */
    | "workflow_completed"
    /** Lifecycle: it failed. */
    | "workflow_failed"
    /** Lifecycle: it was called off. */
    | "workflow_cancelled"
    /** Stages: a stage has started. */
    | "stage_started"
    /** Stages: a stage is done. */
    | "stage_completed"
    /** Approval: a person must approve the plan. */
    | "approval_required"
    /** Approval: a person approved. */
    | "approval_granted"
    /** Approval: a person said no. */
    | "approval_rejected"
    /** Artifacts: a file is new. */
    | "file_created"
    /** Artifacts: a file has changed. */
    | "file_modified"
    /** Artifacts: a file is gone. */
    | "file_deleted"
    /** Review: a review is asked for. */
    | "review_requested"
    /** Review: the review is done. */
    | "review_completed"
    /** Review: changes are asked for. */
    | "revision_requested"
    /** Agent: an agent says something. */
    | "agent_message"
    /** Tasks: a task of the plan has started. */
    | "task_started"
    /** Tasks: a task is done. */
    | "task_completed"
    /** Tasks: a task failed. */
    | "task_failed"
    /** System: an error of the system itself. */
    | "system_error"
    /** System: a warning of the system itself. */
    | "system_warning"
    /** Streaming: live only, never stored. */
    | "stream"
    /** Streaming: the agent thinks or plans; a trace. */
    | "claude_thinking"
    /** Streaming: the agent calls a tool; a trace. */
    | "claude_tool_call"
    /** Streaming: a tool has answered; a trace. */
    | "claude_tool_result"
    /** Streaming: the agent's final output; a trace. */
    | "agent_output"
    /** Brainstorm: a session has begun. */
    | "brainstorm_session_created"
    /** Brainstorm: the agent thinks. */
    | "brainstorm_reasoning"
    /** Brainstorm: the agent calls a tool. */
    | "brainstorm_tool_call"
    /** Brainstorm: a tool has answered. */
    | "brainstorm_tool_result"
    /** Brainstorm: text of the agent. */
    | "brainstorm_text"
    /** Brainstorm: the agent asks the person. */
    | "brainstorm_ask_user"
    /** Brainstorm: a message is whole. */
    | "brainstorm_message_complete"
    /** Brainstorm: a design document was written. */
    | "brainstorm_artifact_created"
    /** Brainstorm: the session is over. */
    | "brainstorm_session_completed"
    /** Brainstorm: a message failed. */
    | "brainstorm_message_failed"
    /** Oracle: a consultation has begun. */
    | "oracle_consultation_started"
    /** Oracle: it thinks. */
    | "oracle_consultation_thinking"
    /** Oracle: it calls a tool. */
    | "oracle_tool_call"
    /** Oracle: a tool has answered. */
    | "oracle_tool_result"
    /** Oracle: the consultation is done. */
    | "oracle_consultation_completed"
    /** Oracle: the consultation failed. */
    | "oracle_consultation_failed"
    /** Knowledge: a document is being taken in. */
    | "document_ingestion_started"
    /** Knowledge: how far that is. */
    | "document_ingestion_progress"
    /** Knowledge: the document is in. */
    | "document_ingestion_completed"
    /** Knowledge: the document could not be taken in. */
    | "document_ingestion_failed"
    /** Plan: its structure is sound. */
    | "plan_validated"
    /** Plan: its structure is not sound. */
    | "plan_validation_failed";

  /** How transient failures are tried again. */
  export interface RetryConfig {
    /** How often a transient failure is tried again. @default 3 */
    max_retries: number;
    /** Seconds before the first retry; doubled for each further one. @default 1.0 */
    base_delay: number;
    /** Seconds that no wait exceeds. @default 60.0 */
    max_delay: number;
  }

  /** How transient failures are tried again. */
  export interface RetryConfig_Input {
    /** How often a transient failure is tried again. @default 3 */
    max_retries?: number;
    /** Seconds before the first retry; doubled for each further one. @default 1.0 */
    base_delay?: number;
    /** Seconds that no wait exceeds. @default 60.0 */
    max_delay?: number;
  }

  /** How large a Daytona sandbox is. */
  export interface DaytonaResources {
    /** CPU cores. @default 2 */
    cpu: number;
    /** Memory in GB. @default 4 */
    memory: number;
    /** Disk in GB. @default 10 */
    disk: number;
  }

  /** How large a Daytona sandbox is. */
  export interface DaytonaResources_Input {
    /** CPU cores. @default 2 */
    cpu?: number;
    /** Memory in GB. @default 4 */
    memory?: number;
    /** Disk in GB. @default 10 */
    disk?: number;
  }

  /** Where and how tools run. */
  export interface SandboxConfig {
    /** Which kind of sandbox. @default "none" */
    mode: pipeline.SandboxMode;
    /** Image of the container sandbox. @default "amelia-sandbox:latest" */
    image: string;
    /** Whether only network_allowed_hosts can be reached. @default false */
    network_allowlist_enabled: boolean;
    /** Hosts that can be reached while the allow-list is on. @default ["api.anthropic.com", "openrouter.ai", "api.openai.com", "github.com", "app.daytona.io"] */
    network_allowed_hosts: string[];
    /** Git remote that is cloned into the sandbox. */
    repo_url: string | null;
    /** Daytona's API. @default "https://app.daytona.io/api" */
    daytona_api_url: string;
    /** Daytona's region. @default "us" */
    daytona_target: string;
    /** Its size; null leaves that to Daytona. */
    daytona_resources: pipeline.DaytonaResources | null;
    /** Image of the Daytona sandbox. @default "python:3.12-slim" */
    daytona_image: string;
    /** Snapshot to start from, which is faster. */
    daytona_snapshot: string | null;
    /** Seconds that an operation of Daytona may take. @default 120.0 */
    daytona_timeout: number;
  }

  /** Where and how tools run. */
  export interface SandboxConfig_Input {
    /** Which kind of sandbox. @default "none" */
    mode?: pipeline.SandboxMode;
    /** Image of the container sandbox. @default "amelia-sandbox:latest" */
    image?: string;
    /** Whether only network_allowed_hosts can be reached. @default false */
    network_allowlist_enabled?: boolean;
    /** Hosts that can be reached while the allow-list is on. @default ["api.anthropic.com", "openrouter.ai", "api.openai.com", "github.com", "app.daytona.io"] */
    network_allowed_hosts?: string[];
    /** Git remote that is cloned into the sandbox. */
    repo_url?: string | null;
    /** Daytona's API. @default "https://app.daytona.io/api" */
    daytona_api_url?: string;
    /** Daytona's region. @default "us" */
    daytona_target?: string;
    /** Its size; null leaves that to Daytona. */
    daytona_resources?: pipeline.DaytonaResources_Input | null;
    /** Image of the Daytona sandbox. @default "python:3.12-slim" */
    daytona_image?: string;
    /** Snapshot to start from, which is faster. */
    daytona_snapshot?: string | null;
    /** Seconds that an operation of Daytona may take. @default 120.0 */
    daytona_timeout?: number;
  }

  /** What drives one agent. */
  export interface AgentConfig {
    /** What drives its model. */
    driver: pipeline.DriverType;
    /** Its model. */
    model: string;
    /** Options of the driver and the agent. @default {} */
    options: { [key: string]: unknown };
    /** Where its tools run; the profile's own sandbox goes before it. @default {} */
    sandbox: pipeline.SandboxConfig;
    /** The profile it was taken from; filled in when it is. @default "default" */
    profile_name: string;
  }

  /** What drives one agent. */
  export interface AgentConfig_Input {
    /** What drives its model. */
    driver: pipeline.DriverType;
    /** Its model. */
    model: string;
    /** Options of the driver and the agent. @default {} */
    options?: { [key: string]: unknown };
    /** Where its tools run; the profile's own sandbox goes before it. @default {} */
    sandbox?: pipeline.SandboxConfig_Input;
    /** The profile it was taken from; filled in when it is. @default "default" */
    profile_name?: string;
  }

  /** Where and under which conditions pipelines run. */
  export interface Profile {
    /** Its name, such as work or personal. */
    name: string;
    /** Where issues come from. @default "noop" */
    tracker: pipeline.TrackerType;
    /** Folder of the repository that is worked on. */
    repo_root: string;
    /** Folder that plans are saved in. @default "docs/plans" */
    plan_output_dir: string;
    /** Path of a plan; {date} and {issue_key} are filled in. @default "docs/plans/{date}-{issue_key}.md" */
    plan_path_pattern: string;
    /** How transient failures are tried again. @default {} */
    retry: pipeline.RetryConfig;
    /** What drives each agent, by the agent's name. @default {} */
    agents: { [key: string]: pipeline.AgentConfig };
    /** Where tools run. @default {} */
    sandbox: pipeline.SandboxConfig;
  }

  /** Where and under which conditions pipelines run. */
  export interface Profile_Input {
    /** Its name, such as work or personal. */
    name: string;
    /** Where issues come from. @default "noop" */
    tracker?: pipeline.TrackerType;
    /** Folder of the repository that is worked on. */
    repo_root: string;
    /** Folder that plans are saved in. @default "docs/plans" */
    plan_output_dir?: string;
    /** Path of a plan; {date} and {issue_key} are filled in. @default "docs/plans/{date}-{issue_key}.md" */
    plan_path_pattern?: string;
    /** How transient failures are tried again. @default {} */
    retry?: pipeline.RetryConfig_Input;
    /** What drives each agent, by the agent's name. @default {} */
    agents?: { [key: string]: pipeline.AgentConfig_Input };
    /** Where tools run. @default {} */
    sandbox?: pipeline.SandboxConfig_Input;
  }

  /** All profiles, and the one in use. */
  export interface Settings {
    /** Name of the profile in use. */
    active_profile: string;
    /** The profiles by name. */
    profiles: { [key: string]: pipeline.Profile };
  }

  /** All profiles, and the one in use. */
  export interface Settings_Input {
    /** Name of the profile in use. */
    active_profile: string;
    /** The profiles by name. */
    profiles: { [key: string]: pipeline.Profile_Input };
  }

  /** An issue or ticket. */
  export interface Issue {
    /** The tracker's own key, such as JIRA-123 or GH-456. */
    id: string;
    /** One line that says what it is about. */
    title: string;
    /** The whole text. */
    description: string;
    /** The tracker's word for where it stands. @default "open" */
    status: string;
  }

  /** An issue or ticket. */
  export interface Issue_Input {
    /** The tracker's own key, such as JIRA-123 or GH-456. */
    id: string;
    /** One line that says what it is about. */
    title: string;
    /** The whole text. */
    description: string;
    /** The tracker's word for where it stands. @default "open" */
    status?: string;
  }

  /** A design, given by the user or made by a brainstorming session. */
  export interface Design {
    /** The design itself, Markdown. */
    content: string;
    /** Where it came from: import, file and so on. @default "import" */
    source: string;
  }

  /** A design, given by the user or made by a brainstorming session. */
  export interface Design_Input {
    /** The design itself, Markdown. */
    content: string;
    /** Where it came from: import, file and so on. @default "import" */
    source?: string;
  }

  /** What checking a plan's structure gave. */
  export interface PlanValidationResult {
    /** Whether the plan is sound. */
    valid: boolean;
    /** What is wrong with it. */
    issues: string[];
    /** How bad that is. */
    severity: pipeline.Severity;
  }

  /** One question to the Oracle and its answer. */
  export interface OracleConsultation {
    /** When it was asked. */
    timestamp: string;
    /** What was asked. */
    problem: string;
    /** What came back. */
    advice: string | null;
    /** The model that answered. */
    model: string;
    /** The consultation's own session. */
    session_id: string;
    /** The workflow that asked, if one did. */
    workflow_id: string | null;
    /** Tokens by kind. @default {} */
    tokens: { [key: string]: number };
    /** Cost in dollars. */
    cost_usd: number | null;
    /** Files it looked at. @default [] */
    files_consulted: string[];
    /** How it ended. @default "success" */
    outcome: pipeline.ConsultationOutcome;
    /** Why it failed, when it did. */
    error_message: string | null;
  }

  /** One question to the Oracle and its answer. */
  export interface OracleConsultation_Input {
    /** When it was asked. */
    timestamp: string;
    /** What was asked. */
    problem: string;
    /** What came back. */
    advice?: string | null;
    /** The model that answered. */
    model: string;
    /** The consultation's own session. */
    session_id: string;
    /** The workflow that asked, if one did. */
    workflow_id?: string | null;
    /** Tokens by kind. @default {} */
    tokens?: { [key: string]: number };
    /** Cost in dollars. */
    cost_usd?: number | null;
    /** Files it looked at. @default [] */
    files_consulted?: string[];
    /** How it ended. @default "success" */
    outcome?: pipeline.ConsultationOutcome;
    /** Why it failed, when it did. */
    error_message?: string | null;
  }

  /** A tool call of the model. */
  export interface ToolCall {
    /** Tells this call from the others. */
    id: string;
    /** The tool that is called. */
    tool_name: string;
    /** What it is given, by name. */
    tool_input: { [key: string]: unknown };
    /** When it was called, ISO 8601 text. */
    timestamp: string | null;
  }

  /** A tool call of the model. */
  export interface ToolCall_Input {
    /** Tells this call from the others. */
    id: string;
    /** The tool that is called. */
    tool_name: string;
    /** What it is given, by name. */
    tool_input: { [key: string]: unknown };
    /** When it was called, ISO 8601 text. */
    timestamp?: string | null;
  }

  /** What a tool call gave. */
  export interface ToolResult {
    /** The id of the call that this answers. */
    call_id: string;
    /** The tool that was called. */
    tool_name: string;
    /** What it gave: standard output, a file's content, and so on. */
    output: string;
    /** Whether it did what was asked. */
    success: boolean;
    /** Why it failed, when it did. */
    error: string | null;
    /** How long it took, in milliseconds. */
    duration_ms: number | null;
  }

  /** What a tool call gave. */
  export interface ToolResult_Input {
    /** The id of the call that this answers. */
    call_id: string;
    /** The tool that was called. */
    tool_name: string;
    /** What it gave: standard output, a file's content, and so on. */
    output: string;
    /** Whether it did what was asked. */
    success: boolean;
    /** Why it failed, when it did. */
    error?: string | null;
    /** How long it took, in milliseconds. */
    duration_ms?: number | null;
  }

  /** State of one agent that works on its own. */
  export interface AgenticState {
    /** The workflow this is the state of. */
    workflow_id: string;
    /** The issue it works on. */
    issue_key: string;
    /** What it is to achieve. */
    goal: string;
    /** The agent's system prompt. */
    system_prompt: string | null;
    /** Its tool calls, oldest first. @default [] */
    tool_calls: pipeline.ToolCall[];
    /** What they gave, oldest first. @default [] */
    tool_results: pipeline.ToolResult[];
    /** What it answered in the end. */
    final_response: string | null;
    /** Where it stands. @default "running" */
    status: pipeline.AgenticStatus;
    /** Why it failed, when it did. */
    error: string | null;
    /** Session the driver goes on with. */
    session_id: string | null;
  }

  /** State of one agent that works on its own. */
  export interface AgenticState_Input {
    /** The workflow this is the state of. */
    workflow_id: string;
    /** The issue it works on. */
    issue_key: string;
    /** What it is to achieve. */
    goal: string;
    /** The agent's system prompt. */
    system_prompt?: string | null;
    /** Its tool calls, oldest first. @default [] */
    tool_calls?: pipeline.ToolCall_Input[];
    /** What they gave, oldest first. @default [] */
    tool_results?: pipeline.ToolResult_Input[];
    /** What it answered in the end. */
    final_response?: string | null;
    /** Where it stands. @default "running" */
    status?: pipeline.AgenticStatus;
    /** Why it failed, when it did. */
    error?: string | null;
    /** Session the driver goes on with. */
    session_id?: string | null;
  }

  /** What a code review gave. */
  export interface ReviewResult {
    /** Whose eyes it was seen with, such as Security or Performance. */
    reviewer_persona: string;
    /** Whether the changes may stay. */
    approved: boolean;
    /** The reviewer's remarks. */
    comments: string[];
    /** How bad the worst of them is. */
    severity: pipeline.Severity;
  }

  /** What a driver knows about the use of its model; null is unknown. */
  export interface DriverUsage {
    /** Input tokens in all. */
    input_tokens: number | null;
    /** Tokens the model wrote. */
    output_tokens: number | null;
    /** Tokens that came from the cache. */
    cache_read_tokens: number | null;
    /** Tokens written to the cache. */
    cache_creation_tokens: number | null;
    /** Net cost in dollars. */
    cost_usd: number | null;
    /** How long it took, in milliseconds. */
    duration_ms: number | null;
    /** Turns of the agent. */
    num_turns: number | null;
    /** The model that was used. */
    model: string | null;
  }

  /** What a driver knows about the use of its model; null is unknown. */
  export interface DriverUsage_Input {
    /** Input tokens in all. */
    input_tokens?: number | null;
    /** Tokens the model wrote. */
    output_tokens?: number | null;
    /** Tokens that came from the cache. */
    cache_read_tokens?: number | null;
    /** Tokens written to the cache. */
    cache_creation_tokens?: number | null;
    /** Net cost in dollars. */
    cost_usd?: number | null;
    /** How long it took, in milliseconds. */
    duration_ms?: number | null;
    /** Turns of the agent. */
    num_turns?: number | null;
    /** The model that was used. */
    model?: string | null;
  }

  /** One message of an agent at work, the same for every driver. */
  export interface AgenticMessage {
    /** What it is. */
    type: pipeline.AgenticMessageType;
    /** Text of a thought or of the result. */
    content: string | null;
    /** The tool that is called or has answered. */
    tool_name: string | null;
    /** What the tool is given. */
    tool_input: { [key: string]: unknown } | null;
    /** What the tool gave. */
    tool_output: string | null;
    /** Tells the tool call from the others. */
    tool_call_id: string | null;
    /** Session the driver goes on with. */
    session_id: string | null;
    /** Whether it reports an error. @default false */
    is_error: boolean;
    /** The model. */
    model: string | null;
    /** What it took, in a usage message. */
    usage: pipeline.DriverUsage | null;
  }

  /** One message of an agent at work, the same for every driver. */
  export interface AgenticMessage_Input {
    /** What it is. */
    type: pipeline.AgenticMessageType;
    /** Text of a thought or of the result. */
    content?: string | null;
    /** The tool that is called or has answered. */
    tool_name?: string | null;
    /** What the tool is given. */
    tool_input?: { [key: string]: unknown } | null;
    /** What the tool gave. */
    tool_output?: string | null;
    /** Tells the tool call from the others. */
    tool_call_id?: string | null;
    /** Session the driver goes on with. */
    session_id?: string | null;
    /** Whether it reports an error. @default false */
    is_error?: boolean;
    /** The model. */
    model?: string | null;
    /** What it took, in a usage message. */
    usage?: pipeline.DriverUsage_Input | null;
  }

  /** One remark of a review, evaluated. */
  export interface EvaluatedItem {
    /** Its number in the review. */
    number: number;
    /** The remark in short. */
    title: string;
    /** The file it is about. */
    file_path: string;
    /** The line it is about. */
    line: number;
    /** What is done about it. */
    disposition: pipeline.Disposition;
    /** What speaks for that. */
    reason: string;
    /** What the reviewer wrote. */
    original_issue: string;
    /** What the reviewer proposed. */
    suggested_fix: string;
  }

  /** A review's remarks, sorted by what is done about them. */
  export interface EvaluationResult {
    /** Those that will be fixed. @default [] */
    items_to_implement: pipeline.EvaluatedItem[];
    /** Those that are wrong. @default [] */
    items_rejected: pipeline.EvaluatedItem[];
    /** Those that are out of scope. @default [] */
    items_deferred: pipeline.EvaluatedItem[];
    /** Those that somebody has to explain. @default [] */
    items_needing_clarification: pipeline.EvaluatedItem[];
    /** The decisions in short. */
    summary: string;
  }

  /** A review's remarks, sorted by what is done about them. */
  export interface EvaluationResult_Input {
    /** Those that will be fixed. @default [] */
    items_to_implement?: pipeline.EvaluatedItem[];
    /** Those that are wrong. @default [] */
    items_rejected?: pipeline.EvaluatedItem[];
    /** Those that are out of scope. @default [] */
    items_deferred?: pipeline.EvaluatedItem[];
    /** Those that somebody has to explain. @default [] */
    items_needing_clarification?: pipeline.EvaluatedItem[];
    /** The decisions in short. */
    summary: string;
  }

  /** One thing an agent did. */
  export interface HistoryEntry {
    /** When. */
    timestamp: string;
    /** Who. */
    agent: string;
    /** What. */
    action: string;
    /** Anything more. */
    detail: string | null;
    [key: string]: unknown;
  }

  /** One thing an agent did. */
  export interface HistoryEntry_Input {
    /** When. */
    timestamp: string;
    /** Who. */
    agent: string;
    /** What. */
    action: string;
    /** Anything more. */
    detail?: string | null;
    [key: string]: unknown;
  }

  /** What the states of all pipelines have in common. */
  export interface BasePipelineState {
    /** Which pipeline it is, such as implementation. */
    pipeline_type: string;
    /** The workflow this is the state of. */
    workflow_id: string;
    /** Name of the profile it runs under. */
    profile_id: string;
    /** When it was created. */
    created_at: string;
    /** Where it stands. */
    status: pipeline.PipelineStatus;
    /** What the agents did, oldest first; only ever added to. @default [] */
    history: pipeline.HistoryEntry[];
    /** Whether it waits for a person. @default false */
    pending_user_input: boolean;
    /** What the person said, such as feedback with an approval. */
    user_message: string | null;
    /** Session the driver goes on with. */
    driver_session_id: string | null;
    /** What it answered in the end. */
    final_response: string | null;
    /** Why it failed, when it did. */
    error: string | null;
    /** Advice that was asked for, oldest first; only ever added to. @default [] */
    oracle_consultations: pipeline.OracleConsultation[];
    [key: string]: unknown;
  }

  /** What the states of all pipelines have in common. */
  export interface BasePipelineState_Input {
    /** Which pipeline it is, such as implementation. */
    pipeline_type: string;
    /** The workflow this is the state of. */
    workflow_id: string;
    /** Name of the profile it runs under. */
    profile_id: string;
    /** When it was created. */
    created_at: string;
    /** Where it stands. */
    status: pipeline.PipelineStatus;
    /** What the agents did, oldest first; only ever added to. @default [] */
    history?: pipeline.HistoryEntry_Input[];
    /** Whether it waits for a person. @default false */
    pending_user_input?: boolean;
    /** What the person said, such as feedback with an approval. */
    user_message?: string | null;
    /** Session the driver goes on with. */
    driver_session_id?: string | null;
    /** What it answered in the end. */
    final_response?: string | null;
    /** Why it failed, when it did. */
    error?: string | null;
    /** Advice that was asked for, oldest first; only ever added to. @default [] */
    oracle_consultations?: pipeline.OracleConsultation_Input[];
    [key: string]: unknown;
  }

  /** State of the implementation pipeline. */
  export interface ImplementationState {
    /** Which pipeline it is. */
    pipeline_type: "implementation";
    /** The workflow this is the state of. */
    workflow_id: string;
    /** Name of the profile it runs under. */
    profile_id: string;
    /** When it was created. */
    created_at: string;
    /** Where it stands. */
    status: pipeline.PipelineStatus;
    /** What the agents did, oldest first; only ever added to. @default [] */
    history: pipeline.HistoryEntry[];
    /** Whether it waits for a person. @default false */
    pending_user_input: boolean;
    /** What the person said, such as feedback with an approval. */
    user_message: string | null;
    /** Session the driver goes on with. */
    driver_session_id: string | null;
    /** What it answered in the end. */
    final_response: string | null;
    /** Why it failed, when it did. */
    error: string | null;
    /** Advice that was asked for, oldest first; only ever added to. @default [] */
    oracle_consultations: pipeline.OracleConsultation[];
    /** Tool calls, oldest first; only ever added to. @default [] */
    tool_calls: pipeline.ToolCall[];
    /** What they gave, oldest first; only ever added to. @default [] */
    tool_results: pipeline.ToolResult[];
    /** Where the agent's work stands. @default "running" */
    agentic_status: pipeline.AgenticStatus;
    /** The issue it works on. */
    issue: pipeline.Issue | null;
    /** The design it starts from. */
    design: pipeline.Design | null;
    /** What is to be achieved. */
    goal: string | null;
    /** Git commit at the start, which diffs are made against. */
    base_commit: string | null;
    /** The Architect's plan, Markdown. */
    plan_markdown: string | null;
    /** What the Architect said before the plan was taken out of it. */
    raw_architect_output: string | null;
    /** Why the Architect failed, when it did. */
    architect_error: string | null;
    /** File the plan was saved in. */
    plan_path: string | null;
    /** Files that planning found to matter. @default [] */
    key_files: string[];
    /** Whether a person approved the plan; null while nobody has answered. */
    human_approved: boolean | null;
    /** What the person added. */
    human_feedback: string | null;
    /** The latest review. */
    last_review: pipeline.ReviewResult | null;
    /** The changes to be reviewed. */
    code_changes_for_review: string | null;
    /** Round of the review loop. @default 0 */
    review_iteration: number;
    /** What checking the plan gave. */
    plan_validation_result: pipeline.PlanValidationResult | null;
    /** How often the plan was revised. @default 0 */
    plan_revision_count: number;
    /** Tasks of the plan. @default 1 */
    total_tasks: number;
    /** The task in work, from 0; one more when it passed its review. @default 0 */
    current_task_index: number;
    /** Round of the review loop within the task; 0 again with the next one. @default 0 */
    task_review_iteration: number;
    /** What the evaluator decided. */
    evaluation_result: pipeline.EvaluationResult | null;
    /** Numbers of the remarks that will be fixed. @default [] */
    approved_items: number[];
    /** Round of the automatic review. @default 0 */
    review_pass: number;
    /** Rounds the automatic review may take. @default 3 */
    max_review_passes: number;
    /** Whether the plan was given, so that no Architect is asked. @default false */
    external_plan: boolean;
  }

  /** State of the implementation pipeline. */
  export interface ImplementationState_Input {
    /** Which pipeline it is. */
    pipeline_type?: "implementation";
    /** The workflow this is the state of. */
    workflow_id: string;
    /** Name of the profile it runs under. */
    profile_id: string;
    /** When it was created. */
    created_at: string;
    /** Where it stands. */
    status: pipeline.PipelineStatus;
    /** What the agents did, oldest first; only ever added to. @default [] */
    history?: pipeline.HistoryEntry_Input[];
    /** Whether it waits for a person. @default false */
    pending_user_input?: boolean;
    /** What the person said, such as feedback with an approval. */
    user_message?: string | null;
    /** Session the driver goes on with. */
    driver_session_id?: string | null;
    /** What it answered in the end. */
    final_response?: string | null;
    /** Why it failed, when it did. */
    error?: string | null;
    /** Advice that was asked for, oldest first; only ever added to. @default [] */
    oracle_consultations?: pipeline.OracleConsultation_Input[];
    /** Tool calls, oldest first; only ever added to. @default [] */
    tool_calls?: pipeline.ToolCall_Input[];
    /** What they gave, oldest first; only ever added to. @default [] */
    tool_results?: pipeline.ToolResult_Input[];
    /** Where the agent's work stands. @default "running" */
    agentic_status?: pipeline.AgenticStatus;
    /** The issue it works on. */
    issue?: pipeline.Issue_Input | null;
    /** The design it starts from. */
    design?: pipeline.Design_Input | null;
    /** What is to be achieved. */
    goal?: string | null;
    /** Git commit at the start, which diffs are made against. */
    base_commit?: string | null;
    /** The Architect's plan, Markdown. */
    plan_markdown?: string | null;
    /** What the Architect said before the plan was taken out of it. */
    raw_architect_output?: string | null;
    /** Why the Architect failed, when it did. */
    architect_error?: string | null;
    /** File the plan was saved in. */
    plan_path?: string | null;
    /** Files that planning found to matter. @default [] */
    key_files?: string[];
    /** Whether a person approved the plan; null while nobody has answered. */
    human_approved?: boolean | null;
    /** What the person added. */
    human_feedback?: string | null;
    /** The latest review. */
    last_review?: pipeline.ReviewResult | null;
    /** The changes to be reviewed. */
    code_changes_for_review?: string | null;
    /** Round of the review loop. @default 0 */
    review_iteration?: number;
    /** What checking the plan gave. */
    plan_validation_result?: pipeline.PlanValidationResult | null;
    /** How often the plan was revised. @default 0 */
    plan_revision_count?: number;
    /** Tasks of the plan. @default 1 */
    total_tasks?: number;
    /** The task in work, from 0; one more when it passed its review. @default 0 */
    current_task_index?: number;
    /** Round of the review loop within the task; 0 again with the next one. @default 0 */
    task_review_iteration?: number;
    /** What the evaluator decided. */
    evaluation_result?: pipeline.EvaluationResult_Input | null;
    /** Numbers of the remarks that will be fixed. @default [] */
    approved_items?: number[];
    /** Round of the automatic review. @default 0 */
    review_pass?: number;
    /** Rounds the automatic review may take. @default 3 */
    max_review_passes?: number;
    /** Whether the plan was given, so that no Architect is asked. @default false */
    external_plan?: boolean;
  }

  /** A live event of an agent, the same for every driver. */
  export interface StreamEvent {
    /** What it is. */
    type: pipeline.StreamEventType;
    /** Tells this event from the others. */
    id: string;
    /** Its text: a thought, a result and so on. */
    content: string | null;
    /** When it happened. */
    timestamp: string;
    /** Who: architect, developer, reviewer. */
    agent: string;
    /** The workflow it belongs to. */
    workflow_id: string;
    /** The tool that is called or has answered. */
    tool_name: string | null;
    /** What the tool is given, when it is called. */
    tool_input: { [key: string]: unknown } | null;
  }

  /** A live event of an agent, the same for every driver. */
  export interface StreamEvent_Input {
    /** What it is. */
    type: pipeline.StreamEventType;
    /** Tells this event from the others. */
    id?: string;
    /** Its text: a thought, a result and so on. */
    content?: string | null;
    /** When it happened. */
    timestamp: string;
    /** Who: architect, developer, reviewer. */
    agent: string;
    /** The workflow it belongs to. */
    workflow_id: string;
    /** The tool that is called or has answered. */
    tool_name?: string | null;
    /** What the tool is given, when it is called. */
    tool_input?: { [key: string]: unknown } | null;
  }

  /** Settings of the server. */
  export interface ServerConfig {
    /** Address the server listens on. @default "127.0.0.1" */
    host: string;
    /** Port the server listens on. @default 8420 */
    port: number;
    /** File of the SQLite database. @default "~/.amelia/amelia.db" */
    database_path: string;
    /** Days that events are kept. @default 30 */
    log_retention_days: number;
    /** Events that are kept of one workflow at most. @default 100000 */
    log_retention_max_events: number;
    /** Seconds without traffic after which a WebSocket is closed. @default 300.0 */
    websocket_idle_timeout_seconds: number;
    /** Seconds that starting a workflow may take. @default 60.0 */
    workflow_start_timeout_seconds: number;
    /** Workflows that run at the same time. @default 5 */
    max_concurrent: number;
  }

  /** Settings of the server. */
  export interface ServerConfig_Input {
    /** Address the server listens on. @default "127.0.0.1" */
    host?: string;
    /** Port the server listens on. @default 8420 */
    port?: number;
    /** File of the SQLite database. @default "~/.amelia/amelia.db" */
    database_path?: string;
    /** Days that events are kept. @default 30 */
    log_retention_days?: number;
    /** Events that are kept of one workflow at most. @default 100000 */
    log_retention_max_events?: number;
    /** Seconds without traffic after which a WebSocket is closed. @default 300.0 */
    websocket_idle_timeout_seconds?: number;
    /** Seconds that starting a workflow may take. @default 60.0 */
    workflow_start_timeout_seconds?: number;
    /** Workflows that run at the same time. @default 5 */
    max_concurrent?: number;
  }

  /** One entry of the activity log; never changed. */
  export interface WorkflowEvent {
    /** Tells this event from the others. */
    id: string;
    /** Which part of the system it is about. @default "workflow" */
    domain: pipeline.EventDomain;
    /** The workflow it belongs to. */
    workflow_id: string;
    /** Its number within the workflow, growing; 0 for what is only a trace. */
    sequence: number;
    /** When it happened. */
    timestamp: string;
    /** Who: architect, developer, reviewer, system. */
    agent: string;
    /** What happened. */
    event_type: pipeline.EventType;
    /** How much it matters; follows from event_type when it is not given. */
    level: pipeline.EventLevel | null;
    /** What happened, for a person. */
    message: string;
    /** Details: paths, errors and so on. */
    data: { [key: string]: unknown } | null;
    /** Session of the consultation it belongs to. */
    session_id: string | null;
    /** Shared by events that belong together, such as a question and its answer. */
    correlation_id: string | null;
    /** The tool, in a trace. */
    tool_name: string | null;
    /** What the tool was given, in a trace. */
    tool_input: { [key: string]: unknown } | null;
    /** Whether a trace reports an error. @default false */
    is_error: boolean;
    /** The model, in a trace. */
    model: string | null;
    /** Shared by all events of a workflow, as OpenTelemetry has it. */
    trace_id: string | null;
    /** The event that caused this one. */
    parent_id: string | null;
  }

  /** One entry of the activity log; never changed. */
  export interface WorkflowEvent_Input {
    /** Tells this event from the others. */
    id: string;
    /** Which part of the system it is about. @default "workflow" */
    domain?: pipeline.EventDomain;
    /** The workflow it belongs to. */
    workflow_id: string;
    /** Its number within the workflow, growing; 0 for what is only a trace. */
    sequence: number;
    /** When it happened. */
    timestamp: string;
    /** Who: architect, developer, reviewer, system. */
    agent: string;
    /** What happened. */
    event_type: pipeline.EventType;
    /** How much it matters; follows from event_type when it is not given. */
    level?: pipeline.EventLevel | null;
    /** What happened, for a person. */
    message: string;
    /** Details: paths, errors and so on. */
    data?: { [key: string]: unknown } | null;
    /** Session of the consultation it belongs to. */
    session_id?: string | null;
    /** Shared by events that belong together, such as a question and its answer. */
    correlation_id?: string | null;
    /** The tool, in a trace. */
    tool_name?: string | null;
    /** What the tool was given, in a trace. */
    tool_input?: { [key: string]: unknown } | null;
    /** Whether a trace reports an error. @default false */
    is_error?: boolean;
    /** The model, in a trace. */
    model?: string | null;
    /** Shared by all events of a workflow, as OpenTelemetry has it. */
    trace_id?: string | null;
    /** The event that caused this one. */
    parent_id?: string | null;
  }

  /** Tokens one agent used, and what they cost. */
  export interface TokenUsage {
    /** Tells this record from the others. */
    id: string;
    /** The workflow that used the tokens. */
    workflow_id: string;
    /** The agent that used them. */
    agent: string;
    /** The model whose prices count. @default "claude-sonnet-4-20250514" */
    model: string;
    /** All input tokens, those read from the cache included. */
    input_tokens: number;
    /** Tokens the model wrote. */
    output_tokens: number;
    /** The part of the input that came from the cache, at a lower price. @default 0 */
    cache_read_tokens: number;
    /** Tokens written to the cache, at a higher price. @default 0 */
    cache_creation_tokens: number;
    /** Net cost in dollars; null when no price is known. */
    cost_usd: number | null;
    /** When they were used. */
    timestamp: string;
  }

  /** Tokens one agent used, and what they cost. */
  export interface TokenUsage_Input {
    /** Tells this record from the others. */
    id?: string;
    /** The workflow that used the tokens. */
    workflow_id: string;
    /** The agent that used them. */
    agent: string;
    /** The model whose prices count. @default "claude-sonnet-4-20250514" */
    model?: string;
    /** All input tokens, those read from the cache included. */
    input_tokens: number;
    /** Tokens the model wrote. */
    output_tokens: number;
    /** The part of the input that came from the cache, at a lower price. @default 0 */
    cache_read_tokens?: number;
    /** Tokens written to the cache, at a higher price. @default 0 */
    cache_creation_tokens?: number;
    /** Net cost in dollars; null when no price is known. */
    cost_usd?: number | null;
    /** When they were used. */
    timestamp: string;
  }
}

/** The first version of the pipeline's words. */
export namespace pipeline_v1 {
  /** What drives the model. */
  export type DriverType =
    /** A command line. */
    | "cli"
    /** A model's HTTP interface. */
    | "api";

  /** Where issues come from. */
  export type TrackerType =
    /** Jira. */
    | "jira"
    /** GitHub. */
    | "github"
    /** Nowhere: what to do is given with the run. */
    | "none";

  /** Where an agent's work stands. */
  export type AgenticStatus =
    /** At work. */
    | "running"
    /** Waits for a person's approval. */
    | "awaiting_approval"
    /** Done. */
    | "completed"
    /** Ended by an error. */
    | "failed"
    /** Called off. */
    | "cancelled";

  /** How bad what a review found is. */
  export type Severity =
    /** Worth fixing. */
    | "low"
    /** Should be fixed. */
    | "medium"
    /** Has to be fixed. */
    | "high"
    /** Must not go on like this. */
    | "critical";

  /** What a live event of an agent is, the same for every driver. */
  export type StreamEventType =
    /** The agent thinks or plans. */
    | "claude_thinking"
    /** The agent calls a tool. */
    | "claude_tool_call"
    /** A tool has answered. */
    | "claude_tool_result"
    /** The agent's final output. */
    | "agent_output";

  /** What happened. */
  export type EventType =
    /** Lifecycle: a workflow has started. */
    | "workflow_started"
    /** Lifecycle: it ended well. */
    | "workflow_completed"
    /** Lifecycle: it failed. */
    | "workflow_failed"
    /** Lifecycle: it was called off. */
    | "workflow_cancelled"
    /** Stages: a stage has started. */
    | "stage_started"
    /** Stages: a stage is done. */
    | "stage_completed"
    /** Approval: a person must approve the plan. */
    | "approval_required"
    /** Approval: a person approved. */
    | "approval_granted"
    /** Approval: a person said no. */
    | "approval_rejected"
    /** Artifacts: a file is new. */
    | "file_created"
    /** Artifacts: a file has changed. */
    | "file_modified"
    /** Artifacts: a file is gone. */
    | "file_deleted"
    /** Review: a review is asked for. */
    | "review_requested"
    /** Review: the review is done. */
    | "review_completed"
    /** Review: changes are asked for. */
    | "revision_requested"
    /** System: an error of the system itself. */
    | "system_error"
    /** System: a warning of the system itself. */
    | "system_warning";

  /** How transient failures are tried again. */
  export interface RetryConfig {
    /** How often a transient failure is tried again. @default 3 */
    max_retries: number;
    /** Seconds before the first retry; doubled for each further one. @default 1.0 */
    base_delay: number;
    /** Seconds that no wait exceeds. @default 60.0 */
    max_delay: number;
  }

  /** How transient failures are tried again. */
  export interface RetryConfig_Input {
    /** How often a transient failure is tried again. @default 3 */
    max_retries?: number;
    /** Seconds before the first retry; doubled for each further one. @default 1.0 */
    base_delay?: number;
    /** Seconds that no wait exceeds. @default 60.0 */
    max_delay?: number;
  }

  /** Where and under which conditions pipelines run. */
  export interface Profile {
    /** Its name, such as work or personal. */
    name: string;
    /** What drives the model of every agent. */
    driver: pipeline_v1.DriverType;
    /** The model of every agent; an api driver needs it. */
    model: string | null;
    /** Where issues come from. @default "none" */
    tracker: pipeline_v1.TrackerType;
    /** Folder the agents work in; null is the one the program runs in. */
    working_dir: string | null;
    /** Folder that plans are saved in. @default "docs/plans" */
    plan_output_dir: string;
    /** How transient failures are tried again. @default {} */
    retry: pipeline_v1.RetryConfig;
    /** Rounds of the review loop. @default 3 */
    max_review_iterations: number;
    /** Rounds of the review loop within a task. @default 5 */
    max_task_review_iterations: number;
  }

  /** Where and under which conditions pipelines run. */
  export interface Profile_Input {
    /** Its name, such as work or personal. */
    name: string;
    /** What drives the model of every agent. */
    driver: pipeline_v1.DriverType;
    /** The model of every agent; an api driver needs it. */
    model?: string | null;
    /** Where issues come from. @default "none" */
    tracker?: pipeline_v1.TrackerType;
    /** Folder the agents work in; null is the one the program runs in. */
    working_dir?: string | null;
    /** Folder that plans are saved in. @default "docs/plans" */
    plan_output_dir?: string;
    /** How transient failures are tried again. @default {} */
    retry?: pipeline_v1.RetryConfig_Input;
    /** Rounds of the review loop. @default 3 */
    max_review_iterations?: number;
    /** Rounds of the review loop within a task. @default 5 */
    max_task_review_iterations?: number;
  }

  /** All profiles, and the one in use. */
  export interface Settings {
    /** Name of the profile in use. */
    active_profile: string;
    /** The profiles by name. */
    profiles: { [key: string]: pipeline_v1.Profile };
  }

  /** All profiles, and the one in use. */
  export interface Settings_Input {
    /** Name of the profile in use. */
    active_profile: string;
    /** The profiles by name. */
    profiles: { [key: string]: pipeline_v1.Profile_Input };
  }

  /** An issue or ticket. */
  export interface Issue {
    /** The tracker's own key, such as JIRA-123 or GH-456. */
    id: string;
    /** One line that says what it is about. */
    title: string;
    /** The whole text. */
    description: string;
    /** The tracker's word for where it stands. @default "open" */
    status: string;
  }

  /** An issue or ticket. */
  export interface Issue_Input {
    /** The tracker's own key, such as JIRA-123 or GH-456. */
    id: string;
    /** One line that says what it is about. */
    title: string;
    /** The whole text. */
    description: string;
    /** The tracker's word for where it stands. @default "open" */
    status?: string;
  }

  /** A design with its parts told apart. */
  export interface Design {
    /** Its title. */
    title: string;
    /** What is to be achieved. */
    goal: string;
    /** How it is built. */
    architecture: string;
    /** What it is built with. */
    tech_stack: string[];
    /** Its parts. */
    components: string[];
    /** How data moves through it. */
    data_flow: string | null;
    /** What is done about errors. */
    error_handling: string | null;
    /** How it is tested. */
    testing_strategy: string | null;
    /** Files of the repository that matter. @default [] */
    relevant_files: string[];
    /** Conventions to keep to. */
    conventions: string | null;
    /** The design as it was written. */
    raw_content: string;
  }

  /** A design with its parts told apart. */
  export interface Design_Input {
    /** Its title. */
    title: string;
    /** What is to be achieved. */
    goal: string;
    /** How it is built. */
    architecture: string;
    /** What it is built with. */
    tech_stack: string[];
    /** Its parts. */
    components: string[];
    /** How data moves through it. */
    data_flow?: string | null;
    /** What is done about errors. */
    error_handling?: string | null;
    /** How it is tested. */
    testing_strategy?: string | null;
    /** Files of the repository that matter. @default [] */
    relevant_files?: string[];
    /** Conventions to keep to. */
    conventions?: string | null;
    /** The design as it was written. */
    raw_content: string;
  }

  /** A tool call of the model. */
  export interface ToolCall {
    /** Tells this call from the others. */
    id: string;
    /** The tool that is called. */
    tool_name: string;
    /** What it is given, by name. */
    tool_input: { [key: string]: unknown };
    /** When it was called, ISO 8601 text. */
    timestamp: string | null;
  }

  /** A tool call of the model. */
  export interface ToolCall_Input {
    /** Tells this call from the others. */
    id: string;
    /** The tool that is called. */
    tool_name: string;
    /** What it is given, by name. */
    tool_input: { [key: string]: unknown };
    /** When it was called, ISO 8601 text. */
    timestamp?: string | null;
  }

  /** What a tool call gave. */
  export interface ToolResult {
    /** The id of the call that this answers. */
    call_id: string;
    /** The tool that was called. */
    tool_name: string;
    /** What it gave: standard output, a file's content, and so on. */
    output: string;
    /** Whether it did what was asked. */
    success: boolean;
    /** Why it failed, when it did. */
    error: string | null;
    /** How long it took, in milliseconds. */
    duration_ms: number | null;
  }

  /** What a tool call gave. */
  export interface ToolResult_Input {
    /** The id of the call that this answers. */
    call_id: string;
    /** The tool that was called. */
    tool_name: string;
    /** What it gave: standard output, a file's content, and so on. */
    output: string;
    /** Whether it did what was asked. */
    success: boolean;
    /** Why it failed, when it did. */
    error?: string | null;
    /** How long it took, in milliseconds. */
    duration_ms?: number | null;
  }

  /** State of one agent that works on its own. */
  export interface AgenticState {
    /** The workflow this is the state of. */
    workflow_id: string;
    /** The issue it works on. */
    issue_key: string;
    /** What it is to achieve. */
    goal: string;
    /** The agent's system prompt. */
    system_prompt: string | null;
    /** Its tool calls, oldest first. @default [] */
    tool_calls: pipeline_v1.ToolCall[];
    /** What they gave, oldest first. @default [] */
    tool_results: pipeline_v1.ToolResult[];
    /** What it answered in the end. */
    final_response: string | null;
    /** Where it stands. @default "running" */
    status: pipeline_v1.AgenticStatus;
    /** Why it failed, when it did. */
    error: string | null;
    /** Session the driver goes on with. */
    session_id: string | null;
  }

  /** State of one agent that works on its own. */
  export interface AgenticState_Input {
    /** The workflow this is the state of. */
    workflow_id: string;
    /** The issue it works on. */
    issue_key: string;
    /** What it is to achieve. */
    goal: string;
    /** The agent's system prompt. */
    system_prompt?: string | null;
    /** Its tool calls, oldest first. @default [] */
    tool_calls?: pipeline_v1.ToolCall_Input[];
    /** What they gave, oldest first. @default [] */
    tool_results?: pipeline_v1.ToolResult_Input[];
    /** What it answered in the end. */
    final_response?: string | null;
    /** Where it stands. @default "running" */
    status?: pipeline_v1.AgenticStatus;
    /** Why it failed, when it did. */
    error?: string | null;
    /** Session the driver goes on with. */
    session_id?: string | null;
  }

  /** What a code review gave. */
  export interface ReviewResult {
    /** Whose eyes it was seen with, such as Security or Performance. */
    reviewer_persona: string;
    /** Whether the changes may stay. */
    approved: boolean;
    /** The reviewer's remarks. */
    comments: string[];
    /** How bad the worst of them is. */
    severity: pipeline_v1.Severity;
  }

  /** One message of the agents' conversation. */
  export interface AgentMessage {
    /** Who speaks: system, assistant, user. */
    role: string;
    /** What is said. */
    content: string;
    /** Tool calls that come with it. */
    tool_calls: unknown[] | null;
  }

  /** One message of the agents' conversation. */
  export interface AgentMessage_Input {
    /** Who speaks: system, assistant, user. */
    role: string;
    /** What is said. */
    content: string;
    /** Tool calls that come with it. */
    tool_calls?: unknown[] | null;
  }

  /** State of a workflow. */
  export interface ExecutionState {
    /** Name of the profile it runs under, so that a replay runs under the same. */
    profile_id: string;
    /** The issue it works on. */
    issue: pipeline_v1.Issue | null;
    /** The design it starts from. */
    design: pipeline_v1.Design | null;
    /** What is to be achieved. */
    goal: string | null;
    /** Git commit at the start, which diffs are made against. */
    base_commit: string | null;
    /** The Architect's plan, Markdown. */
    plan_markdown: string | null;
    /** File the plan was saved in. */
    plan_path: string | null;
    /** Whether a person approved; null while nobody has answered. */
    human_approved: boolean | null;
    /** What the person added. */
    human_feedback: string | null;
    /** The latest review, the only one that counts. */
    last_review: pipeline_v1.ReviewResult | null;
    /** The changes to be reviewed. */
    code_changes_for_review: string | null;
    /** Session the driver goes on with. */
    driver_session_id: string | null;
    /** What the agents did, oldest first; only ever added to. @default [] */
    agent_history: string[];
    /** Tool calls, oldest first; only ever added to. @default [] */
    tool_calls: pipeline_v1.ToolCall[];
    /** What they gave, oldest first; only ever added to. @default [] */
    tool_results: pipeline_v1.ToolResult[];
    /** Where the agent's work stands. @default "running" */
    agentic_status: pipeline_v1.AgenticStatus;
    /** When it was created. */
    created_at: string;
    /** What it answered in the end. */
    final_response: string | null;
    /** Why it failed, when it did. */
    error: string | null;
    /** Round of the review loop. @default 0 */
    review_iteration: number;
    /** Tasks of the plan; null when all is done in one session. */
    total_tasks: number | null;
    /** The task in work, from 0; one more when it passed its review. @default 0 */
    current_task_index: number;
    /** Round of the review loop within the task; 0 again with the next one. @default 0 */
    task_review_iteration: number;
    /** The reviewer's own structured answer. */
    structured_review: unknown;
    /** What the evaluator decided. */
    evaluation_result: unknown;
    /** Numbers of the remarks that will be fixed. @default [] */
    approved_items: number[];
    /** Whether nobody is asked for approval. @default false */
    auto_approve: boolean;
    /** Round of the automatic review. @default 0 */
    review_pass: number;
    /** Rounds the automatic review may take. @default 3 */
    max_review_passes: number;
    /** Whether it is still pending: nothing has been done yet. */
    is_queued: boolean | null;
  }

  /** State of a workflow. */
  export interface ExecutionState_Input {
    /** Name of the profile it runs under, so that a replay runs under the same. */
    profile_id: string;
    /** The issue it works on. */
    issue?: pipeline_v1.Issue_Input | null;
    /** The design it starts from. */
    design?: pipeline_v1.Design_Input | null;
    /** What is to be achieved. */
    goal?: string | null;
    /** Git commit at the start, which diffs are made against. */
    base_commit?: string | null;
    /** The Architect's plan, Markdown. */
    plan_markdown?: string | null;
    /** File the plan was saved in. */
    plan_path?: string | null;
    /** Whether a person approved; null while nobody has answered. */
    human_approved?: boolean | null;
    /** What the person added. */
    human_feedback?: string | null;
    /** The latest review, the only one that counts. */
    last_review?: pipeline_v1.ReviewResult | null;
    /** The changes to be reviewed. */
    code_changes_for_review?: string | null;
    /** Session the driver goes on with. */
    driver_session_id?: string | null;
    /** What the agents did, oldest first; only ever added to. @default [] */
    agent_history?: string[];
    /** Tool calls, oldest first; only ever added to. @default [] */
    tool_calls?: pipeline_v1.ToolCall_Input[];
    /** What they gave, oldest first; only ever added to. @default [] */
    tool_results?: pipeline_v1.ToolResult_Input[];
    /** Where the agent's work stands. @default "running" */
    agentic_status?: pipeline_v1.AgenticStatus;
    /** When it was created. */
    created_at: string;
    /** What it answered in the end. */
    final_response?: string | null;
    /** Why it failed, when it did. */
    error?: string | null;
    /** Round of the review loop. @default 0 */
    review_iteration?: number;
    /** Tasks of the plan; null when all is done in one session. */
    total_tasks?: number | null;
    /** The task in work, from 0; one more when it passed its review. @default 0 */
    current_task_index?: number;
    /** Round of the review loop within the task; 0 again with the next one. @default 0 */
    task_review_iteration?: number;
    /** The reviewer's own structured answer. */
    structured_review?: unknown;
    /** What the evaluator decided. */
    evaluation_result?: unknown;
    /** Numbers of the remarks that will be fixed. @default [] */
    approved_items?: number[];
    /** Whether nobody is asked for approval. @default false */
    auto_approve?: boolean;
    /** Round of the automatic review. @default 0 */
    review_pass?: number;
    /** Rounds the automatic review may take. @default 3 */
    max_review_passes?: number;
    /** Whether it is still pending: nothing has been done yet. */
    is_queued?: boolean | null;
  }

  /** A live event of an agent, the same for every driver. */
  export interface StreamEvent {
    /** What it is. */
    type: pipeline_v1.StreamEventType;
    /** Tells this event from the others. */
    id: string;
    /** Its text: a thought, a result and so on. */
    content: string | null;
    /** When it happened. */
    timestamp: string;
    /** Who: architect, developer, reviewer. */
    agent: string;
    /** The workflow it belongs to. */
    workflow_id: string;
    /** The tool that is called or has answered. */
    tool_name: string | null;
    /** What the tool is given, when it is called. */
    tool_input: { [key: string]: unknown } | null;
  }

  /** A live event of an agent, the same for every driver. */
  export interface StreamEvent_Input {
    /** What it is. */
    type: pipeline_v1.StreamEventType;
    /** Tells this event from the others. */
    id?: string;
    /** Its text: a thought, a result and so on. */
    content?: string | null;
    /** When it happened. */
    timestamp: string;
    /** Who: architect, developer, reviewer. */
    agent: string;
    /** The workflow it belongs to. */
    workflow_id: string;
    /** The tool that is called or has answered. */
    tool_name?: string | null;
    /** What the tool is given, when it is called. */
    tool_input?: { [key: string]: unknown } | null;
  }

  /** Settings of the server. */
  export interface ServerConfig {
    /** Address the server listens on. @default "127.0.0.1" */
    host: string;
    /** Port the server listens on. @default 8420 */
    port: number;
    /** File of the SQLite database. @default "~/.amelia/amelia.db" */
    database_path: string;
    /** Days that events are kept. @default 30 */
    log_retention_days: number;
    /** Events that are kept of one workflow at most. @default 100000 */
    log_retention_max_events: number;
    /** Seconds without traffic after which a WebSocket is closed. @default 300.0 */
    websocket_idle_timeout_seconds: number;
    /** Seconds that starting a workflow may take. @default 60.0 */
    workflow_start_timeout_seconds: number;
    /** Workflows that run at the same time. @default 5 */
    max_concurrent: number;
  }

  /** Settings of the server. */
  export interface ServerConfig_Input {
    /** Address the server listens on. @default "127.0.0.1" */
    host?: string;
    /** Port the server listens on. @default 8420 */
    port?: number;
    /** File of the SQLite database. @default "~/.amelia/amelia.db" */
    database_path?: string;
    /** Days that events are kept. @default 30 */
    log_retention_days?: number;
    /** Events that are kept of one workflow at most. @default 100000 */
    log_retention_max_events?: number;
    /** Seconds without traffic after which a WebSocket is closed. @default 300.0 */
    websocket_idle_timeout_seconds?: number;
    /** Seconds that starting a workflow may take. @default 60.0 */
    workflow_start_timeout_seconds?: number;
    /** Workflows that run at the same time. @default 5 */
    max_concurrent?: number;
  }

  /** One entry of the activity log; never changed. */
  export interface WorkflowEvent {
    /** Tells this event from the others, a UUID. */
    id: string;
    /** The workflow it belongs to. */
    workflow_id: string;
    /** Its number within the workflow, growing. */
    sequence: number;
    /** When it happened. */
    timestamp: string;
    /** Who: architect, developer, reviewer, system. */
    agent: string;
    /** What happened. */
    event_type: pipeline_v1.EventType;
    /** What happened, for a person. */
    message: string;
    /** Details: paths, errors and so on. */
    data: { [key: string]: unknown } | null;
    /** Shared by events that belong together, such as a question and its answer. */
    correlation_id: string | null;
  }

  /** One entry of the activity log; never changed. */
  export interface WorkflowEvent_Input {
    /** Tells this event from the others, a UUID. */
    id: string;
    /** The workflow it belongs to. */
    workflow_id: string;
    /** Its number within the workflow, growing. */
    sequence: number;
    /** When it happened. */
    timestamp: string;
    /** Who: architect, developer, reviewer, system. */
    agent: string;
    /** What happened. */
    event_type: pipeline_v1.EventType;
    /** What happened, for a person. */
    message: string;
    /** Details: paths, errors and so on. */
    data?: { [key: string]: unknown } | null;
    /** Shared by events that belong together, such as a question and its answer. */
    correlation_id?: string | null;
  }

  /** Tokens one agent used, and what they cost. */
  export interface TokenUsage {
    /** Tells this record from the others. */
    id: string;
    /** The workflow that used the tokens. */
    workflow_id: string;
    /** The agent that used them. */
    agent: string;
    /** The model whose prices count. @default "claude-sonnet-4-20250514" */
    model: string;
    /** All input tokens, those read from the cache included. */
    input_tokens: number;
    /** Tokens the model wrote. */
    output_tokens: number;
    /** The part of the input that came from the cache, at a lower price. @default 0 */
    cache_read_tokens: number;
    /** Tokens written to the cache, at a higher price. @default 0 */
    cache_creation_tokens: number;
    /** Net cost in dollars; null when no price is known. */
    cost_usd: number | null;
    /** When they were used. */
    timestamp: string;
  }

  /** Tokens one agent used, and what they cost. */
  export interface TokenUsage_Input {
    /** Tells this record from the others. */
    id?: string;
    /** The workflow that used the tokens. */
    workflow_id: string;
    /** The agent that used them. */
    agent: string;
    /** The model whose prices count. @default "claude-sonnet-4-20250514" */
    model?: string;
    /** All input tokens, those read from the cache included. */
    input_tokens: number;
    /** Tokens the model wrote. */
    output_tokens: number;
    /** The part of the input that came from the cache, at a lower price. @default 0 */
    cache_read_tokens?: number;
    /** Tokens written to the cache, at a higher price. @default 0 */
    cache_creation_tokens?: number;
    /** Net cost in dollars; null when no price is known. */
    cost_usd?: number | null;
    /** When they were used. */
    timestamp: string;
  }
}

/** Workflows of agents: runs, steps, reports, evaluation. */
export namespace runtime {
  /** Answer of GET /api/health. */
  export interface HealthResponse {
    /** "ok" whenever the server can answer at all. */
    status: string;
    /** Version of the running program. */
    version: string;
  }

  /** Body of POST /api/run. */
  export interface WorkflowRunRequest {
    /** Name of the workflow to run. */
    workflow: string;
    /** The workflow's inputs by name. */
    inputs: { [key: string]: unknown };
    /** Key of the execution engine. @default "native" */
    adapter: string;
    /** Id chosen by the client; made here when null. @default null */
    run_id: string | null;
    /** The definition itself; taken only through baton.sock, where only the data folder's owner can speak. */
    yaml_content?: string;
    /** Where the run must wait for its turn, higher ones come first; 0 unless said. */
    priority?: number;
    /** Of the runs with this word one at a time is under way; the others wait. */
    alone?: string;
    /** Days the run's events are kept once it has ended (S4's retention_days); the smallest that anybody has set wins. */
    retention_days?: number;
  }

  /** Body of POST /api/run. */
  export interface WorkflowRunRequest_Input {
    /** Name of the workflow to run. */
    workflow: string;
    /** The workflow's inputs by name. */
    inputs: { [key: string]: unknown };
    /** Key of the execution engine. @default "native" */
    adapter?: string;
    /** Id chosen by the client; made here when null. @default null */
    run_id?: string | null;
    /** The definition itself; taken only through baton.sock, where only the data folder's owner can speak. */
    yaml_content?: string;
    /** Where the run must wait for its turn, higher ones come first; 0 unless said. */
    priority?: number;
    /** Of the runs with this word one at a time is under way; the others wait. */
    alone?: string;
    /** Days the run's events are kept once it has ended (S4's retention_days); the smallest that anybody has set wins. */
    retention_days?: number;
  }

  /** Answer of POST /api/run. */
  export interface WorkflowRunResponse {
    /** Id of the run. */
    run_id: string;
    /** "queued": the run is recorded and will happen. */
    status: string;
  }

  /** One step of a run as lists and details show it. */
  export interface StepResultModel {
    /** Name of the step in the definition. */
    step_id: string;
    /** Who did it: the agent, or the tool, human or wait that stands in its place. */
    agent: string;
    /** pending, running, success, failed or skipped. */
    status: string;
    /** When it started. */
    started_at: string | null;
    /** When it ended. */
    completed_at: string | null;
    /** From start to end. */
    duration_ms: number | null;
    /** What it gave, by name. */
    output: { [key: string]: unknown } | null;
    /** Why it failed or was skipped. */
    error: string | null;
  }

  /** One step of a run as lists and details show it. */
  export interface StepResultModel_Input {
    /** Name of the step in the definition. */
    step_id: string;
    /** Who did it: the agent, or the tool, human or wait that stands in its place. */
    agent: string;
    /** pending, running, success, failed or skipped. */
    status: string;
    /** When it started. */
    started_at?: string | null;
    /** When it ended. */
    completed_at?: string | null;
    /** From start to end. */
    duration_ms?: number | null;
    /** What it gave, by name. */
    output?: { [key: string]: unknown } | null;
    /** Why it failed or was skipped. */
    error?: string | null;
  }

  /** A whole run. */
  export interface WorkflowResultModel {
    /** Id of the run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** Execution engine that ran it. */
    adapter: string;
    /** running, success or failed. */
    status: string;
    /** When it was recorded. */
    started_at: string;
    /** When it ended; null while it runs. */
    completed_at: string | null;
    /** From record to end. */
    duration_ms: number | null;
    /** Its steps in the definition's order. */
    steps: runtime.StepResultModel[];
    /** The workflow's outputs by name. */
    outputs: { [key: string]: unknown };
    /** Why the run failed. */
    error: string | null;
    /** Whatever else is known; state holds Baton's own word. */
    metadata: { [key: string]: unknown };
  }

  /** A whole run. */
  export interface WorkflowResultModel_Input {
    /** Id of the run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** Execution engine that ran it. */
    adapter: string;
    /** running, success or failed. */
    status: string;
    /** When it was recorded. */
    started_at: string;
    /** When it ended; null while it runs. */
    completed_at?: string | null;
    /** From record to end. */
    duration_ms?: number | null;
    /** Its steps in the definition's order. */
    steps: runtime.StepResultModel_Input[];
    /** The workflow's outputs by name. */
    outputs: { [key: string]: unknown };
    /** Why the run failed. */
    error?: string | null;
    /** Whatever else is known; state holds Baton's own word. */
    metadata: { [key: string]: unknown };
  }

  /** How strong a model an agent is routed to. */
  export type ModelTier =
    /** Small and quick. */
    | "fast"
    /** Good enough for most work. */
    | "standard"
    /** The strongest there is. */
    | "powerful";

  /** A configured agent. */
  export interface AgentInfo {
    /** Name of the agent. */
    name: string;
    /** What it is for. */
    description: string;
    /** What it says it can do. */
    capabilities: string[];
    /** Tier its model calls go to. */
    model_tier: runtime.ModelTier;
  }

  /** Answer of GET /api/agents. */
  export interface ListAgentsResponse {
    /** Every configured agent. */
    agents: runtime.AgentInfo[];
  }

  /** Answer of GET /api/workflows. */
  export interface ListWorkflowsResponse {
    /** Names of the definitions: their files without the ending. */
    workflows: string[];
  }

  /** One step in the picture of a workflow. */
  export interface DAGNodeModel {
    /** Name of the step. */
    id: string;
    /** What to show. */
    label: string;
    /** Kind of node, such as agent or gateway. */
    type: string;
    /** The agent that does it. */
    agent: string | null;
  }

  /** One step in the picture of a workflow. */
  export interface DAGNodeModel_Input {
    /** Name of the step. */
    id: string;
    /** What to show. */
    label: string;
    /** Kind of node, such as agent or gateway. */
    type: string;
    /** The agent that does it. */
    agent?: string | null;
  }

  /** One dependency in the picture of a workflow. */
  export interface DAGEdgeModel {
    /** The step that comes first. */
    source: string;
    /** The step that waits for it. */
    target: string;
  }

  /** Answer of GET /api/workflows/{name}/dag. */
  export interface DAGResponse {
    /** All steps. */
    nodes: runtime.DAGNodeModel[];
    /** All dependencies. */
    edges: runtime.DAGEdgeModel[];
  }

  /** Answer of GET /api/workflows/{name}/dag. */
  export interface DAGResponse_Input {
    /** All steps. */
    nodes: runtime.DAGNodeModel_Input[];
    /** All dependencies. */
    edges: runtime.DAGEdgeModel[];
  }

  /** Body of PUT /api/workflows/{name} and POST /api/workflows/validate. */
  export interface WorkflowEditorRequest {
    /** Name of the workflow. */
    name: string;
    /** The whole YAML text. */
    yaml_content: string;
  }

  /** What the workflow editor is shown. */
  export interface WorkflowEditorResponse {
    /** Name of the workflow. */
    name: string;
    /** The YAML text as it is stored. */
    yaml_content: string;
    /** Whether the text is a good definition. */
    is_valid: boolean;
    /** What is wrong with it. */
    validation_errors: string[];
  }

  /** Answer of POST /api/workflows/validate. */
  export interface WorkflowValidationResponse {
    /** Whether nothing stands in the way of running it. */
    is_valid: boolean;
    /** What stands in the way. */
    errors: string[];
    /** Advice that does not. */
    warnings: string[];
  }

  /** One line of GET /api/runs. */
  export interface RunSummaryModel {
    /** Id of the run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** running, success or failed. */
    status: string;
    /** When it was recorded. */
    started_at: string;
    /** When it ended; null while it runs. */
    completed_at: string | null;
    /** From record to end. */
    duration_ms: number | null;
    /** Steps that have ended, one way or another. */
    step_count: number;
    /** Why the run failed. */
    error: string | null;
  }

  /** One line of GET /api/runs. */
  export interface RunSummaryModel_Input {
    /** Id of the run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** running, success or failed. */
    status: string;
    /** When it was recorded. */
    started_at: string;
    /** When it ended; null while it runs. */
    completed_at?: string | null;
    /** From record to end. */
    duration_ms?: number | null;
    /** Steps that have ended, one way or another. */
    step_count: number;
    /** Why the run failed. */
    error?: string | null;
  }

  /** Answer of GET /api/runs/summary. */
  export interface RunsSummaryResponse {
    /** Runs that were counted. */
    total_runs: number;
    /** Those that succeeded. */
    successful_runs: number;
    /** Those that failed. */
    failed_runs: number;
    /** Share of the runs that succeeded; 0 when there are none. */
    success_rate: number;
    /** Mean duration of those that have ended; null when none has. */
    avg_duration_ms: number | null;
    /** Names of the workflows among them. */
    workflows: string[];
  }

  /** Answer of GET /api/runs/summary. */
  export interface RunsSummaryResponse_Input {
    /** Runs that were counted. */
    total_runs: number;
    /** Those that succeeded. */
    successful_runs: number;
    /** Those that failed. */
    failed_runs: number;
    /** Share of the runs that succeeded; 0 when there are none. */
    success_rate: number;
    /** Mean duration of those that have ended; null when none has. */
    avg_duration_ms?: number | null;
    /** Names of the workflows among them. */
    workflows: string[];
  }

  /** Asks for an evaluation of a workflow over a dataset. */
  export interface WorkflowEvaluationRequest {
    /** The workflow to evaluate. */
    workflow: string;
    /** The dataset to run it over. */
    dataset_id: string;
    /** Who judges. @default "default" */
    evaluator: string;
    /** What is judged. @default "default" */
    rubric: string;
    /** Take no more samples than this; null takes all. */
    sample_limit: number | null;
  }

  /** Asks for an evaluation of a workflow over a dataset. */
  export interface WorkflowEvaluationRequest_Input {
    /** The workflow to evaluate. */
    workflow: string;
    /** The dataset to run it over. */
    dataset_id: string;
    /** Who judges. @default "default" */
    evaluator?: string;
    /** What is judged. @default "default" */
    rubric?: string;
    /** Take no more samples than this; null takes all. */
    sample_limit?: number | null;
  }

  /** A dataset that can be chosen. */
  export interface EvaluationDatasetOption {
    /** Id of the dataset. */
    id: string;
    /** Its name. */
    name: string;
    /** What is in it. */
    description: string;
    /** How many samples it has. */
    sample_count: number;
    /** Workflows that can be run over it. */
    compatible_workflows: string[];
  }

  /** Datasets and a rubric that belong together. */
  export interface EvaluationSetOption {
    /** Id of the set. */
    id: string;
    /** Its name. */
    name: string;
    /** Its datasets. */
    dataset_ids: string[];
    /** The rubric that is used unless another one is asked for. */
    rubric: string;
  }

  /** Answer of GET /api/eval/datasets. */
  export interface ListEvaluationDatasetsResponse {
    /** Every dataset there is. */
    datasets: runtime.EvaluationDatasetOption[];
  }

  /** Asks for a run whose timings are taken. */
  export interface WorkflowExecutionProfileRequest {
    /** The workflow to run. */
    workflow: string;
    /** Its inputs by name. */
    inputs: { [key: string]: unknown };
    /** Key of the execution engine. @default "native" */
    adapter: string;
    /** How many levels of spans are kept; all when left out. */
    trace_depth?: number;
  }

  /** Asks for a run whose timings are taken. */
  export interface WorkflowExecutionProfileRequest_Input {
    /** The workflow to run. */
    workflow: string;
    /** Its inputs by name. */
    inputs: { [key: string]: unknown };
    /** Key of the execution engine. @default "native" */
    adapter?: string;
    /** How many levels of spans are kept; all when left out. */
    trace_depth?: number;
  }

  /** What a message is meant as. */
  export type MessageType =
    /** Work for an agent. */
    | "task"
    /** An agent's answer to a task. */
    | "response"
    /** An agent says that something is wrong. */
    | "error"
    /** How things stand; nobody waits for it. */
    | "status"
    /** An agent calls a tool. */
    | "tool_call"
    /** What the tool gave back. */
    | "tool_result";

  /** Where a step stands. */
  export type StepStatus =
    /** Not started yet. */
    | "pending"
    /** At work. */
    | "running"
    /** Ended well. */
    | "success"
    /** Ended with an error. */
    | "failed"
    /** Passed over, for instance by a condition. */
    | "skipped"
    /** Failed, and is tried again. */
    | "retrying";

  /** What a review decided. */
  export type ReviewStatus =
    /** Accepted. */
    | "approved"
    /** Something has to be put right first. */
    | "changes_requested"
    /** Turned down; start again. */
    | "rejected";

  /** How a test gate came out. */
  export type TestGateStatus =
    /** Every required test passed. */
    | "passed"
    /** At least one test failed. */
    | "failed"
    /** The gate was not looked at. */
    | "skipped"
    /** Some passed, too few. */
    | "partial";

  /** How bad a finding is. */
  export type FindingSeverity =
    /** Must be dealt with at once. */
    | "critical"
    /** Must be dealt with. */
    | "high"
    /** Should be dealt with. */
    | "medium"
    /** Worth a look. */
    | "low"
    /** Good to know. */
    | "info";

  /** One thing that a review, an analysis or a scan found. */
  export interface Finding {
    /** Id of the finding. */
    id: string;
    /** How bad it is. */
    severity: runtime.FindingSeverity;
    /** Its kind, such as security or style. */
    category: string;
    /** What was found. */
    message: string;
    /** The file or step it is in. */
    location: string | null;
    /** The line it is on. */
    line: number | null;
    /** What to do about it. */
    suggestion: string | null;
  }

  /** One thing that a review, an analysis or a scan found. */
  export interface Finding_Input {
    /** Id of the finding. */
    id: string;
    /** How bad it is. */
    severity: runtime.FindingSeverity;
    /** Its kind, such as security or style. */
    category: string;
    /** What was found. */
    message: string;
    /** The file or step it is in. */
    location?: string | null;
    /** The line it is on. */
    line?: number | null;
    /** What to do about it. */
    suggestion?: string | null;
  }

  /** A review with all its findings. */
  export interface ReviewReport {
    /** What was decided. */
    status: runtime.ReviewStatus;
    /** What was found. */
    findings: runtime.Finding[];
    /** The review in a few words. */
    summary: string;
    /** Critical findings, counted. */
    critical_count: number | null;
    /** High findings, counted. */
    high_count: number | null;
  }

  /** A review with all its findings. */
  export interface ReviewReport_Input {
    /** What was decided. */
    status: runtime.ReviewStatus;
    /** What was found. */
    findings: runtime.Finding_Input[];
    /** The review in a few words. */
    summary: string;
    /** Critical findings, counted. */
    critical_count?: number | null;
    /** High findings, counted. */
    high_count?: number | null;
  }

  /** The envelope of everything agents say to each other. */
  export interface AgentMessage {
    /** Id of the message. */
    id: string;
    /** What it is meant as. */
    type: runtime.MessageType;
    /** The agent, or the part of the system, that sent it. */
    sender: string;
    /** Who it is for; null is everyone. */
    recipient: string | null;
    /** What it says; its shape depends on type. */
    content: unknown;
    /** Anything around it, such as trace ids. @default {} */
    metadata: { [key: string]: unknown };
    /** When it was made. */
    timestamp: string;
    /** The message it answers. */
    parent_id: string | null;
  }

  /** The envelope of everything agents say to each other. */
  export interface AgentMessage_Input {
    /** Id of the message. */
    id?: string;
    /** What it is meant as. */
    type: runtime.MessageType;
    /** The agent, or the part of the system, that sent it. */
    sender: string;
    /** Who it is for; null is everyone. */
    recipient?: string | null;
    /** What it says; its shape depends on type. */
    content: unknown;
    /** Anything around it, such as trace ids. @default {} */
    metadata?: { [key: string]: unknown };
    /** When it was made. */
    timestamp?: string;
    /** The message it answers. */
    parent_id?: string | null;
  }

  /** One step of a run with everything that was said in it. */
  export interface StepResult {
    /** Name of the step. */
    step_id: string;
    /** Who did it. */
    agent: string;
    /** Where it stands. */
    status: runtime.StepStatus;
    /** What it was given. */
    inputs: { [key: string]: unknown };
    /** What it gave. */
    outputs: { [key: string]: unknown };
    /** What was said, in order. */
    messages: runtime.AgentMessage[];
    /** When it started. */
    started_at: string | null;
    /** When it ended. */
    completed_at: string | null;
    /** Why it failed. */
    error: string | null;
    /** How often it was tried again. */
    retry_count: number;
    /** From start to end; null until both are known. */
    duration_ms: number | null;
    /** Share of its attempts that did not fail; null until it has succeeded or failed. */
    success_rate: number | null;
  }

  /** One step of a run with everything that was said in it. */
  export interface StepResult_Input {
    /** Name of the step. */
    step_id: string;
    /** Who did it. */
    agent: string;
    /** Where it stands. */
    status: runtime.StepStatus;
    /** What it was given. */
    inputs: { [key: string]: unknown };
    /** What it gave. */
    outputs: { [key: string]: unknown };
    /** What was said, in order. */
    messages: runtime.AgentMessage_Input[];
    /** When it started. */
    started_at?: string | null;
    /** When it ended. */
    completed_at?: string | null;
    /** Why it failed. */
    error?: string | null;
    /** How often it was tried again. */
    retry_count: number;
    /** From start to end; null until both are known. */
    duration_ms?: number | null;
    /** Share of its attempts that did not fail; null until it has succeeded or failed. */
    success_rate?: number | null;
  }

  /** The full record of a run. */
  export interface WorkflowResult {
    /** Id of the run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** Execution engine that ran it. */
    adapter: string;
    /** Where it stands. */
    status: runtime.StepStatus;
    /** Its steps in order. */
    steps: runtime.StepResult[];
    /** What it was given. */
    inputs: { [key: string]: unknown };
    /** What it gave. */
    outputs: { [key: string]: unknown };
    /** When it started. */
    started_at: string;
    /** When it ended. */
    completed_at: string | null;
    /** From start to end. */
    duration_ms: number | null;
    /** Why it failed. */
    error: string | null;
    /** Tags, trace ids and the like. @default {} */
    metadata: { [key: string]: unknown };
  }

  /** The full record of a run. */
  export interface WorkflowResult_Input {
    /** Id of the run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** Execution engine that ran it. */
    adapter: string;
    /** Where it stands. */
    status: runtime.StepStatus;
    /** Its steps in order. */
    steps: runtime.StepResult_Input[];
    /** What it was given. */
    inputs: { [key: string]: unknown };
    /** What it gave. */
    outputs: { [key: string]: unknown };
    /** When it started. */
    started_at: string;
    /** When it ended. */
    completed_at?: string | null;
    /** From start to end. */
    duration_ms?: number | null;
    /** Why it failed. */
    error?: string | null;
    /** Tags, trace ids and the like. @default {} */
    metadata?: { [key: string]: unknown };
  }

  /** How bad an issue is. */
  export type Severity =
    /** Must be dealt with at once. */
    | "critical"
    /** Must be dealt with. */
    | "high"
    /** Should be dealt with. */
    | "medium"
    /** Worth a look. */
    | "low"
    /** Good to know. */
    | "info";

  /** What an issue in code is about. */
  export type IssueCategory =
    /** It can be abused. */
    | "security"
    /** It is slow or wasteful. */
    | "performance"
    /** It does not look as it should. */
    | "style"
    /** It does the wrong thing. */
    | "correctness"
    /** It is hard to change. */
    | "maintainability"
    /** It is not explained, or wrongly. */
    | "documentation";

  /** What a test covers. */
  export type TestType =
    /** One piece on its own. */
    | "unit"
    /** Pieces together. */
    | "integration"
    /** The whole, from outside. */
    | "e2e"
    /** How fast it is. */
    | "performance"
    /** Whether it can be abused. */
    | "security";

  /** What every task is given; contract/builders_runtime.h makes changed copies. */
  export interface TaskInput {
    /** Id of the task. */
    task_id: string;
    /** What earlier steps handed on. @default {} */
    context: { [key: string]: unknown };
    /** Anything else about the task. @default {} */
    metadata: { [key: string]: unknown };
  }

  /** What every task is given; contract/builders_runtime.h makes changed copies. */
  export interface TaskInput_Input {
    /** Id of the task. */
    task_id?: string;
    /** What earlier steps handed on. @default {} */
    context?: { [key: string]: unknown };
    /** Anything else about the task. @default {} */
    metadata?: { [key: string]: unknown };
  }

  /** What every task gives; contract/builders_runtime.h makes failed ones. */
  export interface TaskOutput {
    /** The input's task_id. */
    task_id: string;
    /** Whether the task was done. */
    success: boolean;
    /** Why it was not done. */
    error: string | null;
    /** Anything else about the result. @default {} */
    metadata: { [key: string]: unknown };
  }

  /** What every task gives; contract/builders_runtime.h makes failed ones. */
  export interface TaskOutput_Input {
    /** The input's task_id. */
    task_id: string;
    /** Whether the task was done. */
    success: boolean;
    /** Why it was not done. */
    error?: string | null;
    /** Anything else about the result. @default {} */
    metadata?: { [key: string]: unknown };
  }

  /** Asks for code. */
  export interface CodeGenerationInput {
    /** Id of the task. */
    task_id: string;
    /** What earlier steps handed on. @default {} */
    context: { [key: string]: unknown };
    /** Anything else about the task. @default {} */
    metadata: { [key: string]: unknown };
    /** What to write, in plain words. */
    specification: string;
    /** The language to write it in. */
    language: string;
    /** Code to extend or change. */
    existing_code: string | null;
    /** How it should look. */
    style_guide: string | null;
    /** What must work when it is tested. */
    test_requirements: string[];
  }

  /** Asks for code. */
  export interface CodeGenerationInput_Input {
    /** Id of the task. */
    task_id?: string;
    /** What earlier steps handed on. @default {} */
    context?: { [key: string]: unknown };
    /** Anything else about the task. @default {} */
    metadata?: { [key: string]: unknown };
    /** What to write, in plain words. */
    specification: string;
    /** The language to write it in. */
    language: string;
    /** Code to extend or change. */
    existing_code?: string | null;
    /** How it should look. */
    style_guide?: string | null;
    /** What must work when it is tested. */
    test_requirements: string[];
  }

  /** Code that was written. */
  export interface CodeGenerationOutput {
    /** The input's task_id; filled in by who ran the task. */
    task_id?: string;
    /** Whether the task was done. @default true */
    success: boolean;
    /** Why it was not done. */
    error: string | null;
    /** Anything else about the result. @default {} */
    metadata: { [key: string]: unknown };
    /** The code. */
    code: string;
    /** Its language. */
    language: string;
    /** Why it was written like this. */
    explanation: string;
    /** Packages it needs. */
    dependencies: string[];
    /** What would be worth testing. */
    test_hints: string[];
  }

  /** Code that was written. */
  export interface CodeGenerationOutput_Input {
    /** The input's task_id; filled in by who ran the task. */
    task_id?: string;
    /** Whether the task was done. @default true */
    success?: boolean;
    /** Why it was not done. */
    error?: string | null;
    /** Anything else about the result. @default {} */
    metadata?: { [key: string]: unknown };
    /** The code. */
    code: string;
    /** Its language. */
    language: string;
    /** Why it was written like this. */
    explanation: string;
    /** Packages it needs. */
    dependencies: string[];
    /** What would be worth testing. */
    test_hints: string[];
  }

  /** One issue that a review found in code. */
  export interface CodeIssue {
    /** Id of the issue. */
    id: string;
    /** How bad it is. */
    severity: runtime.Severity;
    /** What it is about. */
    category: runtime.IssueCategory;
    /** What is wrong. */
    message: string;
    /** The file or place it is in. */
    location: string | null;
    /** Its first line. */
    line_start: number | null;
    /** Its last line. */
    line_end: number | null;
    /** How to put it right. */
    suggestion: string | null;
    /** The code it is about. */
    code_snippet: string | null;
  }

  /** One issue that a review found in code. */
  export interface CodeIssue_Input {
    /** Id of the issue. */
    id: string;
    /** How bad it is. */
    severity: runtime.Severity;
    /** What it is about. */
    category: runtime.IssueCategory;
    /** What is wrong. */
    message: string;
    /** The file or place it is in. */
    location?: string | null;
    /** Its first line. */
    line_start?: number | null;
    /** Its last line. */
    line_end?: number | null;
    /** How to put it right. */
    suggestion?: string | null;
    /** The code it is about. */
    code_snippet?: string | null;
  }

  /** Asks for a review of code; its context is a text of its own. */
  export interface CodeReviewInput {
    /** Id of the task. */
    task_id: string;
    /** Anything else about the task. @default {} */
    metadata: { [key: string]: unknown };
    /** The code. */
    code: string;
    /** Its language. */
    language: string;
    /** What the code is for. */
    context: string | null;
    /** What to look at most. */
    focus_areas: runtime.IssueCategory[];
    /** Leave out what is less bad than this. */
    severity_threshold: runtime.Severity;
  }

  /** Asks for a review of code; its context is a text of its own. */
  export interface CodeReviewInput_Input {
    /** Id of the task. */
    task_id?: string;
    /** Anything else about the task. @default {} */
    metadata?: { [key: string]: unknown };
    /** The code. */
    code: string;
    /** Its language. */
    language: string;
    /** What the code is for. */
    context?: string | null;
    /** What to look at most. */
    focus_areas: runtime.IssueCategory[];
    /** Leave out what is less bad than this. */
    severity_threshold: runtime.Severity;
  }

  /** A review of code. */
  export interface CodeReviewOutput {
    /** The input's task_id; filled in by who ran the task. */
    task_id?: string;
    /** Whether the task was done. @default true */
    success: boolean;
    /** Why it was not done. */
    error: string | null;
    /** Anything else about the result. @default {} */
    metadata: { [key: string]: unknown };
    /** What was found. */
    issues: runtime.CodeIssue[];
    /** The review in a few words. */
    summary: string;
    /** What to do with the code. */
    recommendation: runtime.ReviewStatus;
    /** How good it is, 10 is best. */
    quality_score: number;
    /** Critical issues, counted. */
    critical_count: number | null;
    /** High issues, counted. */
    high_count: number | null;
  }

  /** A review of code. */
  export interface CodeReviewOutput_Input {
    /** The input's task_id; filled in by who ran the task. */
    task_id?: string;
    /** Whether the task was done. @default true */
    success?: boolean;
    /** Why it was not done. */
    error?: string | null;
    /** Anything else about the result. @default {} */
    metadata?: { [key: string]: unknown };
    /** What was found. */
    issues: runtime.CodeIssue_Input[];
    /** The review in a few words. */
    summary: string;
    /** What to do with the code. */
    recommendation: runtime.ReviewStatus;
    /** How good it is, 10 is best. */
    quality_score: number;
    /** Critical issues, counted. */
    critical_count?: number | null;
    /** High issues, counted. */
    high_count?: number | null;
  }

  /** One test. */
  export interface TestCase {
    /** Id of the test. */
    id: string;
    /** Its name. */
    name: string;
    /** What it covers. */
    type: runtime.TestType;
    /** What it shows. */
    description: string;
    /** What it is given. */
    inputs: { [key: string]: unknown };
    /** What must come out. */
    expected_output: unknown;
    /** The test as code. */
    code: string | null;
  }

  /** One test. */
  export interface TestCase_Input {
    /** Id of the test. */
    id: string;
    /** Its name. */
    name: string;
    /** What it covers. */
    type: runtime.TestType;
    /** What it shows. */
    description: string;
    /** What it is given. */
    inputs: { [key: string]: unknown };
    /** What must come out. */
    expected_output: unknown;
    /** The test as code. */
    code?: string | null;
  }

  /** Asks for tests. */
  export interface TestGenerationInput {
    /** Id of the task. */
    task_id: string;
    /** What earlier steps handed on. @default {} */
    context: { [key: string]: unknown };
    /** Anything else about the task. @default {} */
    metadata: { [key: string]: unknown };
    /** The code to test. */
    code: string;
    /** Its language. */
    language: string;
    /** Which kinds of test to write. */
    test_types: runtime.TestType[];
    /** Share of the code the tests should reach. @default 0.8 */
    coverage_target: number;
    /** The test framework to use, such as pytest. */
    framework: string | null;
  }

  /** Asks for tests. */
  export interface TestGenerationInput_Input {
    /** Id of the task. */
    task_id?: string;
    /** What earlier steps handed on. @default {} */
    context?: { [key: string]: unknown };
    /** Anything else about the task. @default {} */
    metadata?: { [key: string]: unknown };
    /** The code to test. */
    code: string;
    /** Its language. */
    language: string;
    /** Which kinds of test to write. */
    test_types: runtime.TestType[];
    /** Share of the code the tests should reach. @default 0.8 */
    coverage_target?: number;
    /** The test framework to use, such as pytest. */
    framework?: string | null;
  }

  /** Tests that were written. */
  export interface TestGenerationOutput {
    /** The input's task_id; filled in by who ran the task. */
    task_id?: string;
    /** Whether the task was done. @default true */
    success: boolean;
    /** Why it was not done. */
    error: string | null;
    /** Anything else about the result. @default {} */
    metadata: { [key: string]: unknown };
    /** The tests. */
    tests: runtime.TestCase[];
    /** All of them as one file that runs. */
    test_code: string;
    /** The framework they need. */
    framework: string;
    /** Share of the code they should reach. */
    estimated_coverage: number;
    /** What to do before they can run. */
    setup_instructions: string | null;
  }

  /** Tests that were written. */
  export interface TestGenerationOutput_Input {
    /** The input's task_id; filled in by who ran the task. */
    task_id?: string;
    /** Whether the task was done. @default true */
    success?: boolean;
    /** Why it was not done. */
    error?: string | null;
    /** Anything else about the result. @default {} */
    metadata?: { [key: string]: unknown };
    /** The tests. */
    tests: runtime.TestCase_Input[];
    /** All of them as one file that runs. */
    test_code: string;
    /** The framework they need. */
    framework: string;
    /** Share of the code they should reach. */
    estimated_coverage: number;
    /** What to do before they can run. */
    setup_instructions?: string | null;
  }

  /** What the sanitiser makes of a request. */
  export type Classification =
    /** Nothing in the way. */
    | "clean"
    /** Goes on with [REDACTED] where something sensitive stood. */
    | "redacted"
    /** Too dangerous; refused. */
    | "blocked"
    /** A person looks at it first. */
    | "requires_approval";

  /** What the sanitiser can find. */
  export type FindingCategory =
    /** A key, a token or a password. */
    | "secret"
    /** Something that identifies a person. */
    | "pii"
    /** An attempt to override instructions. */
    | "prompt_injection"
    /** Invisible or direction-changing characters, a byte order mark. */
    | "unicode_anomaly"
    /** A private key in PEM. */
    | "private_key"
    /** A user name with its password. */
    | "credential"
    /** How to reach a database or cloud service. */
    | "connection_string"
    /** A private or sensitive IP address. */
    | "ip_address"
    /** An e-mail address. */
    | "email"
    /** A telephone number. */
    | "phone"
    /** A card or account number. */
    | "financial";

  /** How bad a finding of the sanitiser is. */
  export type SanitizationSeverity =
    /** Must never pass. */
    | "critical"
    /** Must not pass. */
    | "high"
    /** Must not pass as it is. */
    | "medium"
    /** May pass. */
    | "low";

  /** One thing the sanitiser found; never the text itself. */
  export interface SanitizationFinding {
    /** What it is. */
    category: runtime.FindingCategory;
    /** Name of the pattern that found it. */
    pattern_name: string;
    /** Where in the request it stands. */
    location: string;
    /** How bad it is. */
    severity: runtime.SanitizationSeverity;
  }

  /** What the sanitiser says about one request; never changed afterwards. */
  export interface SanitizationResult {
    /** What to do with the request. */
    classification: runtime.Classification;
    /** What was found. */
    findings: runtime.SanitizationFinding[];
    /** The content with what was sensitive replaced; null when blocked. */
    cleaned_content: string | null;
    /** SHA-256 of the content as it came. */
    input_hash: string;
    /** How long it took. */
    processing_time_ms: number;
  }

  /** What the sanitiser says about one request; never changed afterwards. */
  export interface SanitizationResult_Input {
    /** What to do with the request. */
    classification: runtime.Classification;
    /** What was found. */
    findings: runtime.SanitizationFinding[];
    /** The content with what was sensitive replaced; null when blocked. */
    cleaned_content?: string | null;
    /** SHA-256 of the content as it came. */
    input_hash: string;
    /** How long it took. */
    processing_time_ms: number;
  }

  /** How a verification ended. */
  export type VerificationStatus =
    /** The output is good. */
    | "passed"
    /** The output is not good. */
    | "failed"
    /** It was not good at first and is now. */
    | "corrected"
    /** Every attempt to correct it is used up. */
    | "uncorrectable";

  /** What one correction achieved. */
  export type CorrectionOutcome =
    /** Everything is put right. */
    | "success"
    /** Better, but not right. */
    | "partial"
    /** Nothing is put right. */
    | "failed";

  /** How outputs are verified and corrected; never changed afterwards. */
  export interface VerificationPolicy {
    /** Corrections that are tried at most. @default 3 */
    max_correction_attempts: number;
    /** Whether every criterion must pass; otherwise more than half must. @default true */
    require_all_criteria: boolean;
    /** Whether a critical finding ends the run at once. @default true */
    halt_on_critical: boolean;
    /** Time for all of it; null is unlimited. */
    timeout_seconds: number | null;
  }

  /** How outputs are verified and corrected; never changed afterwards. */
  export interface VerificationPolicy_Input {
    /** Corrections that are tried at most. @default 3 */
    max_correction_attempts?: number;
    /** Whether every criterion must pass; otherwise more than half must. @default true */
    require_all_criteria?: boolean;
    /** Whether a critical finding ends the run at once. @default true */
    halt_on_critical?: boolean;
    /** Time for all of it; null is unlimited. */
    timeout_seconds?: number | null;
  }

  /** One attempt to correct an output. */
  export interface CorrectionAttempt {
    /** Its number, from 1. */
    attempt_number: number;
    /** What it achieved. */
    outcome: runtime.CorrectionOutcome;
    /** Ids of the issues it put right. */
    issues_resolved: string[];
    /** Ids of the issues still there. */
    issues_remaining: string[];
    /** The output it made. */
    corrected_output: unknown;
    /** How long it took. */
    duration_ms: number;
  }

  /** One attempt to correct an output. */
  export interface CorrectionAttempt_Input {
    /** Its number, from 1. */
    attempt_number: number;
    /** What it achieved. */
    outcome: runtime.CorrectionOutcome;
    /** Ids of the issues it put right. */
    issues_resolved: string[];
    /** Ids of the issues still there. */
    issues_remaining: string[];
    /** The output it made. */
    corrected_output?: unknown;
    /** How long it took. */
    duration_ms: number;
  }

  /** A verification with its corrections. */
  export interface VerificationResult {
    /** How it ended. */
    status: runtime.VerificationStatus;
    /** Whether each criterion passed. */
    criteria_results: { [key: string]: boolean };
    /** What was tried, in order. */
    corrections: runtime.CorrectionAttempt[];
    /** The output that was accepted. */
    final_output: unknown;
    /** How long all of it took. */
    total_duration_ms: number;
    /** Why it could not be corrected. */
    error: string | null;
  }

  /** A verification with its corrections. */
  export interface VerificationResult_Input {
    /** How it ended. */
    status: runtime.VerificationStatus;
    /** Whether each criterion passed. */
    criteria_results: { [key: string]: boolean };
    /** What was tried, in order. */
    corrections: runtime.CorrectionAttempt_Input[];
    /** The output that was accepted. */
    final_output?: unknown;
    /** How long all of it took. */
    total_duration_ms: number;
    /** Why it could not be corrected. */
    error?: string | null;
  }

  /** What get and delete of a memory store are asked with. */
  export interface MemoryKey {
    /** Name of the value. */
    key: string;
  }

  /** What set of a memory store is asked with. */
  export interface MemoryItem {
    /** Name of the value. */
    key: string;
    /** The value. */
    value: unknown;
  }

  /** What search of a memory store is asked with. */
  export interface MemorySearch {
    /** What to look for. */
    query: string;
    /** Values that are given back at most. @default 10 */
    limit: number;
  }

  /** What search of a memory store is asked with. */
  export interface MemorySearch_Input {
    /** What to look for. */
    query: string;
    /** Values that are given back at most. @default 10 */
    limit?: number;
  }

  /** What every error has. */
  export interface AgenticError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
  }

  /** What every error has. */
  export interface AgenticError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
  }

  /** A workflow cannot be run: bad YAML, no such workflow, a cycle. */
  export interface WorkflowError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
  }

  /** A workflow cannot be run: bad YAML, no such workflow, a cycle. */
  export interface WorkflowError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
  }

  /** A workflow error of one step. */
  export interface StepError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
    /** The step that failed. */
    step_id: string;
    /** The agent that was at it. */
    agent: string | null;
  }

  /** A workflow error of one step. */
  export interface StepError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
    /** The step that failed. */
    step_id: string;
    /** The agent that was at it. */
    agent?: string | null;
  }

  /** A document does not fit its model. */
  export interface SchemaValidationError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
    /** The model. */
    model_name: string;
    /** Everything that does not fit. */
    validation_errors: { [key: string]: unknown }[];
  }

  /** A document does not fit its model. */
  export interface SchemaValidationError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
    /** The model. */
    model_name: string;
    /** Everything that does not fit. */
    validation_errors: { [key: string]: unknown }[];
  }

  /** An execution engine broke down or said something unexpected. */
  export interface AdapterError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
  }

  /** An execution engine broke down or said something unexpected. */
  export interface AdapterError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
  }

  /** An adapter error: there is no such execution engine. */
  export interface AdapterNotFoundError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
    /** The key that was asked for. */
    adapter_name: string;
    /** The keys there are. */
    available_adapters: string[];
  }

  /** An adapter error: there is no such execution engine. */
  export interface AdapterNotFoundError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
    /** The key that was asked for. */
    adapter_name: string;
    /** The keys there are. */
    available_adapters: string[];
  }

  /** A tool was refused, failed or took too long. */
  export interface ToolError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
    /** The tool. */
    tool_name: string;
    /** What it was doing. */
    operation: string | null;
  }

  /** A tool was refused, failed or took too long. */
  export interface ToolError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
    /** The tool. */
    tool_name: string;
    /** What it was doing. */
    operation?: string | null;
  }

  /** A memory store cannot read or write. */
  export interface MemoryStoreError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
  }

  /** A memory store cannot read or write. */
  export interface MemoryStoreError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
  }

  /** The configuration is wrong or lacks something; found at the start, before any work. */
  export interface ConfigurationError {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code: string | null;
    /** What was known at the time, for the log. @default {} */
    context: { [key: string]: unknown };
  }

  /** The configuration is wrong or lacks something; found at the start, before any work. */
  export interface ConfigurationError_Input {
    /** What went wrong, for a person. */
    message: string;
    /** What went wrong, for a program. */
    code?: string | null;
    /** What was known at the time, for the log. @default {} */
    context?: { [key: string]: unknown };
  }

  /** What an event of a run's stream tells. */
  export type StreamEventType =
    /** The run has started. */
    | "workflow_start"
    /** A step has started. */
    | "step_start"
    /** A step has ended. */
    | "step_end"
    /** The run has ended; nothing follows. */
    | "workflow_end"
    /** The result is being judged. */
    | "evaluation_start"
    /** The result is judged. */
    | "evaluation_complete"
    /** Something is wrong. */
    | "error"
    /** Nothing happened, the connection lives. */
    | "keepalive";

  /** Data of workflow_start. */
  export interface WorkflowStartEvent {
    /** Id of the run. */
    run_id: string;
    /** Name of its definition. */
    workflow: string;
    /** Execution engine that runs it. */
    adapter: string;
    /** When it started. */
    started_at: string;
  }

  /** Data of step_start. */
  export interface StepStartEvent {
    /** Name of the step. */
    step_id: string;
    /** Who does it. */
    agent: string;
    /** What it is given. */
    inputs: { [key: string]: unknown };
  }

  /** Data of step_end. */
  export interface StepEndEvent {
    /** Name of the step. */
    step_id: string;
    /** How it ended. */
    status: runtime.StepStatus;
    /** What it gave. */
    output: { [key: string]: unknown } | null;
    /** From start to end. */
    duration_ms: number | null;
    /** Why it failed. */
    error: string | null;
  }

  /** Data of step_end. */
  export interface StepEndEvent_Input {
    /** Name of the step. */
    step_id: string;
    /** How it ended. */
    status: runtime.StepStatus;
    /** What it gave. */
    output?: { [key: string]: unknown } | null;
    /** From start to end. */
    duration_ms?: number | null;
    /** Why it failed. */
    error?: string | null;
  }

  /** Data of workflow_end. */
  export interface WorkflowEndEvent {
    /** Id of the run. */
    run_id: string;
    /** How it ended. */
    status: runtime.StepStatus;
    /** From start to end. */
    duration_ms: number | null;
    /** The workflow's outputs by name. */
    outputs: { [key: string]: unknown };
  }

  /** Data of workflow_end. */
  export interface WorkflowEndEvent_Input {
    /** Id of the run. */
    run_id: string;
    /** How it ended. */
    status: runtime.StepStatus;
    /** From start to end. */
    duration_ms?: number | null;
    /** The workflow's outputs by name. */
    outputs: { [key: string]: unknown };
  }

  /** Data of evaluation_start. */
  export interface EvaluationStartEvent {
    /** Id of the run that is judged. */
    run_id: string;
    /** Who judges. */
    evaluator: string;
    /** What is judged. */
    rubric: string;
  }

  /** Data of evaluation_complete. */
  export interface EvaluationCompleteEvent {
    /** Id of the run that was judged. */
    run_id: string;
    /** The score of each criterion. */
    scores: { [key: string]: number };
    /** The judgement in a few words. */
    summary: string;
  }

  /** Data of error. */
  export interface ErrorEvent {
    /** What went wrong, for a program. */
    code: string;
    /** What went wrong, for a person. */
    message: string;
    /** The step it happened in. */
    step_id: string | null;
  }

  /** Data of error. */
  export interface ErrorEvent_Input {
    /** What went wrong, for a program. */
    code: string;
    /** What went wrong, for a person. */
    message: string;
    /** The step it happened in. */
    step_id?: string | null;
  }

  /** Data of keepalive: none. */
  export interface KeepaliveEvent {
  }

  /** Data of an event of a run's stream, told by the event beside it. */
  export type StreamData =
    | runtime.WorkflowStartEvent
    | runtime.StepStartEvent
    | runtime.StepEndEvent
    | runtime.WorkflowEndEvent
    | runtime.EvaluationStartEvent
    | runtime.EvaluationCompleteEvent
    | runtime.ErrorEvent
    | runtime.KeepaliveEvent;

  /** Data of an event of a run's stream, told by the event beside it. */
  export type StreamData_Input =
    | runtime.WorkflowStartEvent
    | runtime.StepStartEvent
    | runtime.StepEndEvent_Input
    | runtime.WorkflowEndEvent_Input
    | runtime.EvaluationStartEvent
    | runtime.EvaluationCompleteEvent
    | runtime.ErrorEvent_Input
    | runtime.KeepaliveEvent;

  /** One event of a run's stream. */
  export interface StreamEvent {
    /** What it tells. */
    event: runtime.StreamEventType;
    /** The rest of it. */
    data: runtime.StreamData;
    /** When it happened. */
    timestamp: string;
  }

  /** One event of a run's stream. */
  export interface StreamEvent_Input {
    /** What it tells. */
    event: runtime.StreamEventType;
    /** The rest of it. */
    data: runtime.StreamData_Input;
    /** When it happened. */
    timestamp?: string;
  }
}

/** Tasks: steps made of parts, tools, people, memory, teams. */
export namespace task {
  /** How far a task goes on by itself. */
  export type ExecutionMode =
    /** Until it is done. */
    | "autonomous"
    /** One turn, then it waits. */
    | "step"
    /** Until a person is needed. */
    | "hitl";

  /** How a task ended. */
  export type FinalStatus =
    /** It did what was asked. */
    | "success"
    /** It failed. */
    | "error"
    /** It was called off. */
    | "cancelled";

  /** Why a task stands still. */
  export type PauseReason =
    /** The turn that was asked for is over. */
    | "step_mode"
    /** A breakpoint was reached. */
    | "breakpoint"
    /** Somebody asked for it. */
    | "user_request"
    /** A person must decide something first. */
    | "hitl_intervention";

  /** How work passes from one agent to another. */
  export type HandoffType =
    /** The receiver goes on where the sender stops. */
    | "sequential"
    /** Both go on at once. */
    | "parallel"
    /** The receiver works for the sender and reports back. */
    | "hierarchical";

  /** How the agents of a pattern work together. */
  export type CollaborationPatternType =
    /** At once, meeting at sync points. */
    | "parallel"
    /** One hands out the work, the others do it. */
    | "hierarchical"
    /** They vote on proposals. */
    | "consensus";

  /** Where a tool comes from. */
  export type ToolType =
    /** The program has it. */
    | "builtin"
    /** The team brings it, as a file. */
    | "custom"
    /** An MCP server offers it. */
    | "mcp"
    /** A person answers. */
    | "hitl";

  /** Which memory something is in. */
  export type MemoryType =
    /** Recent context. */
    | "short_term"
    /** Kept beyond the conversation. */
    | "long_term"
    /** Found by meaning. */
    | "semantic"
    /** What happened, in order. */
    | "episodic";

  /** What was done with a memory. */
  export type MemoryOperation =
    /** Put in. */
    | "store"
    /** Taken out by id. */
    | "retrieve"
    /** Looked for. */
    | "search"
    /** Several items made one. */
    | "consolidate";

  /** What a guardrail check looked at. */
  export type GuardrailCheckType =
    /** The form of what came in. */
    | "input_validation"
    /** What a text says. */
    | "content_filter"
    /** How often something is done. */
    | "rate_limit"
    /** Whether a rule of the house is kept. */
    | "policy";

  /** What a guardrail policy looks at. */
  export type GuardrailPolicyType =
    /** The form of what comes in. */
    | "input_validation"
    /** What a text says. */
    | "content_filter"
    /** How often something is done. */
    | "rate_limit"
    /** Whether a rule of the house is kept. */
    | "compliance";

  /** What a guardrail found. */
  export type GuardrailStatus =
    /** Nothing. */
    | "passed"
    /** A violation. */
    | "failed"
    /** Something to look at. */
    | "warning";

  /** How bad a violation is. */
  export type Severity =
    /** Hardly. */
    | "low"
    /** Somewhat. */
    | "medium"
    /** Very. */
    | "high"
    /** It must not happen. */
    | "critical";

  /** What a policy does about a violation. */
  export type GuardrailAction =
    /** Stops it. */
    | "block"
    /** Lets it through and says so. */
    | "warn"
    /** Lets it through and records it. */
    | "log";

  /** What was done about a violation. */
  export type GuardrailActionTaken =
    /** It was stopped. */
    | "blocked"
    /** It went through with a warning. */
    | "warned"
    /** It went through and was recorded. */
    | "logged";

  /** What happened to a policy. */
  export type GuardrailPolicyUpdate =
    /** It is new. */
    | "created"
    /** It was changed. */
    | "modified"
    /** It is gone. */
    | "deleted";

  /** What a person is asked for. */
  export type HITLRequestType =
    /** A yes or a no. */
    | "approval"
    /** An opinion. */
    | "feedback"
    /** Help with what the agent cannot solve. */
    | "escalation";

  /** What came back from a person. */
  export type HITLResponseType =
    /** Yes. */
    | "approved"
    /** No. */
    | "rejected"
    /** Yes, with changes. */
    | "modified"
    /** Nothing, in time. */
    | "timeout";

  /** How a person steps in. */
  export type InterventionType =
    /** Tells the team something. */
    | "instruction"
    /** Changes the plan. */
    | "plan_update"
    /** Says which agent is next. */
    | "agent_override"
    /** Changes the team. */
    | "team_modification";

  /** How a component is. */
  export type HealthStatus =
    /** Working. */
    | "healthy"
    /** Working, not as it should. */
    | "degraded"
    /** Not working. */
    | "unhealthy";

  /** One turn of an agent or a tool executor. */
  export interface TaskStep {
    /** Id of the step. */
    step_id: string;
    /** When it was taken. */
    timestamp: string;
    /** Who took it: an agent, or a part of the program. */
    agent_name: string;
    /** Item of the plan it works on. */
    task_id: string | null;
    /** Step it is a part of. */
    parent_step_id: string | null;
    /** Mode the task was in: autonomous, step, hitl or a later one. @default "autonomous" */
    execution_mode: string;
    /** What memory contributed. @default {} */
    memory_context: { [key: string]: unknown };
    /** What it consists of, in order. */
    parts: task.Part[];
    /** Anything else. @default {} */
    metadata: { [key: string]: unknown };
    [key: string]: unknown;
  }

  /** One turn of an agent or a tool executor. */
  export interface TaskStep_Input {
    /** Id of the step. */
    step_id?: string;
    /** When it was taken. */
    timestamp?: string;
    /** Who took it: an agent, or a part of the program. */
    agent_name: string;
    /** Item of the plan it works on. */
    task_id?: string | null;
    /** Step it is a part of. */
    parent_step_id?: string | null;
    /** Mode the task was in: autonomous, step, hitl or a later one. @default "autonomous" */
    execution_mode?: string;
    /** What memory contributed. @default {} */
    memory_context?: { [key: string]: unknown };
    /** What it consists of, in order. */
    parts: task.Part_Input[];
    /** Anything else. @default {} */
    metadata?: { [key: string]: unknown };
    [key: string]: unknown;
  }

  /** One piece of a step; a kind unknown here is kept as it came. */
  export type Part =
    | (task.TextPart & { type: "text" })
    | (task.ToolCallPart & { type: "tool_call" })
    | (task.ToolResultPart & { type: "tool_result" })
    | (task.ArtifactPart & { type: "artifact" })
    | (task.ImagePart & { type: "image" })
    | (task.AudioPart & { type: "audio" })
    | (task.MemoryPart & { type: "memory" })
    | (task.GuardrailPart & { type: "guardrail" })
    | { [key: string]: unknown };

  /** One piece of a step; a kind unknown here is kept as it came. */
  export type Part_Input =
    | (task.TextPart_Input & { type: "text" })
    | (task.ToolCallPart_Input & { type: "tool_call" })
    | (task.ToolResultPart_Input & { type: "tool_result" })
    | (task.ArtifactPart_Input & { type: "artifact" })
    | (task.ImagePart_Input & { type: "image" })
    | (task.AudioPart_Input & { type: "audio" })
    | (task.MemoryPart_Input & { type: "memory" })
    | (task.GuardrailPart_Input & { type: "guardrail" })
    | { [key: string]: unknown };

  /** Text by an agent or a person. */
  export interface TextPart {
    /** Which part this is. */
    type: "text";
    /** The text. */
    text: string;
    /** Language it is in. */
    language: string | null;
    /** How sure the model was. */
    confidence: number | null;
    [key: string]: unknown;
  }

  /** Text by an agent or a person. */
  export interface TextPart_Input {
    /** Which part this is. */
    type?: "text";
    /** The text. */
    text: string;
    /** Language it is in. */
    language?: string | null;
    /** How sure the model was. */
    confidence?: number | null;
    [key: string]: unknown;
  }

  /** An agent's request to use a tool. */
  export interface ToolCall {
    /** Id of the call; its result names it. */
    id: string;
    /** The tool. */
    tool_name: string;
    /** What it is given, by name. */
    args: { [key: string]: unknown };
    /** What the agent expects back. */
    expected_output_type: string | null;
    /** Seconds it may take. */
    timeout: number | null;
    /** When and how often to try again. */
    retry_policy: { [key: string]: unknown } | null;
    [key: string]: unknown;
  }

  /** An agent's request to use a tool. */
  export interface ToolCall_Input {
    /** Id of the call; its result names it. */
    id?: string;
    /** The tool. */
    tool_name: string;
    /** What it is given, by name. */
    args: { [key: string]: unknown };
    /** What the agent expects back. */
    expected_output_type?: string | null;
    /** Seconds it may take. */
    timeout?: number | null;
    /** When and how often to try again. */
    retry_policy?: { [key: string]: unknown } | null;
    [key: string]: unknown;
  }

  /** A tool is asked for. */
  export interface ToolCallPart {
    /** Which part this is. */
    type: "tool_call";
    /** The request. */
    tool_call: task.ToolCall;
    [key: string]: unknown;
  }

  /** A tool is asked for. */
  export interface ToolCallPart_Input {
    /** Which part this is. */
    type?: "tool_call";
    /** The request. */
    tool_call: task.ToolCall_Input;
    [key: string]: unknown;
  }

  /** What a tool gave. */
  export interface ToolResult {
    /** The call it answers. */
    tool_call_id: string;
    /** Its output as text, or its result as JSON text. */
    result: string;
    /** What it complained about when it failed. */
    error: string | null;
    /** Paths of the files it made. @default [] */
    artifacts: string[];
    /** How long it took. */
    execution_time_ms: number | null;
    /** What it used: processor, memory and so on. */
    resource_usage: { [key: string]: unknown } | null;
    /** Exit status of its process. */
    exit_code: number | null;
    [key: string]: unknown;
  }

  /** What a tool gave. */
  export interface ToolResult_Input {
    /** The call it answers. */
    tool_call_id: string;
    /** Its output as text, or its result as JSON text. */
    result: string;
    /** What it complained about when it failed. */
    error?: string | null;
    /** Paths of the files it made. @default [] */
    artifacts?: string[];
    /** How long it took. */
    execution_time_ms?: number | null;
    /** What it used: processor, memory and so on. */
    resource_usage?: { [key: string]: unknown } | null;
    /** Exit status of its process. */
    exit_code?: number | null;
    [key: string]: unknown;
  }

  /** A tool has answered. */
  export interface ToolResultPart {
    /** Which part this is. */
    type: "tool_result";
    /** The answer. */
    tool_result: task.ToolResult;
    [key: string]: unknown;
  }

  /** A tool has answered. */
  export interface ToolResultPart_Input {
    /** Which part this is. */
    type?: "tool_result";
    /** The answer. */
    tool_result: task.ToolResult_Input;
    [key: string]: unknown;
  }

  /** A file of the task's workspace, by reference. */
  export interface Artifact {
    /** Where it is, such as file://artifacts/main.py. */
    uri: string;
    /** Its media type. */
    mime_type: string;
    /** Its size. */
    size_bytes: number | null;
    /** What it is. */
    description: string | null;
    /** Which version of the file. */
    version: string | null;
    /** Tells whether its bytes are still the same. */
    checksum: string | null;
    /** Anything else. @default {} */
    metadata: { [key: string]: unknown };
    /** Agent or tool that made it. */
    created_by: string | null;
    /** Words to find it by. @default [] */
    tags: string[];
    [key: string]: unknown;
  }

  /** A file of the task's workspace, by reference. */
  export interface Artifact_Input {
    /** Where it is, such as file://artifacts/main.py. */
    uri: string;
    /** Its media type. */
    mime_type: string;
    /** Its size. */
    size_bytes?: number | null;
    /** What it is. */
    description?: string | null;
    /** Which version of the file. */
    version?: string | null;
    /** Tells whether its bytes are still the same. */
    checksum?: string | null;
    /** Anything else. @default {} */
    metadata?: { [key: string]: unknown };
    /** Agent or tool that made it. */
    created_by?: string | null;
    /** Words to find it by. @default [] */
    tags?: string[];
    [key: string]: unknown;
  }

  /** A file belongs to the step. */
  export interface ArtifactPart {
    /** Which part this is. */
    type: "artifact";
    /** The file. */
    artifact: task.Artifact;
    [key: string]: unknown;
  }

  /** A file belongs to the step. */
  export interface ArtifactPart_Input {
    /** Which part this is. */
    type?: "artifact";
    /** The file. */
    artifact: task.Artifact_Input;
    [key: string]: unknown;
  }

  /** A picture. */
  export interface ImagePart {
    /** Which part this is. */
    type: "image";
    /** The picture as a data URL, or the artifact it is in. */
    image_url: string;
    /** What it shows, in words. */
    alt_text: string | null;
    /** width and height. */
    dimensions: { [key: string]: number } | null;
    /** png, jpg or another. */
    format: string | null;
    [key: string]: unknown;
  }

  /** A picture. */
  export interface ImagePart_Input {
    /** Which part this is. */
    type?: "image";
    /** The picture as a data URL, or the artifact it is in. */
    image_url: string;
    /** What it shows, in words. */
    alt_text?: string | null;
    /** width and height. */
    dimensions?: { [key: string]: number } | null;
    /** png, jpg or another. */
    format?: string | null;
    [key: string]: unknown;
  }

  /** A recording. */
  export interface AudioPart {
    /** Which part this is. */
    type: "audio";
    /** The recording as a data URL, or the artifact it is in. */
    audio_url: string;
    /** What is said in it. */
    transcript: string | null;
    /** How long it is. */
    duration_seconds: number | null;
    /** mp3, wav or another. */
    format: string | null;
    /** Samples a second. */
    sample_rate: number | null;
    [key: string]: unknown;
  }

  /** A recording. */
  export interface AudioPart_Input {
    /** Which part this is. */
    type?: "audio";
    /** The recording as a data URL, or the artifact it is in. */
    audio_url: string;
    /** What is said in it. */
    transcript?: string | null;
    /** How long it is. */
    duration_seconds?: number | null;
    /** mp3, wav or another. */
    format?: string | null;
    /** Samples a second. */
    sample_rate?: number | null;
    [key: string]: unknown;
  }

  /** A pointer to something remembered. */
  export interface MemoryReference {
    /** Id of the memory. */
    memory_id: string;
    /** Which memory it is in. */
    memory_type: task.MemoryType;
    /** How well it fits what was looked for. */
    relevance_score: number | null;
    /** What was looked for. */
    retrieval_query: string | null;
    [key: string]: unknown;
  }

  /** A pointer to something remembered. */
  export interface MemoryReference_Input {
    /** Id of the memory. */
    memory_id: string;
    /** Which memory it is in. */
    memory_type: task.MemoryType;
    /** How well it fits what was looked for. */
    relevance_score?: number | null;
    /** What was looked for. */
    retrieval_query?: string | null;
    [key: string]: unknown;
  }

  /** The memory was used. */
  export interface MemoryPart {
    /** Which part this is. */
    type: "memory";
    /** What was done. */
    operation: task.MemoryOperation;
    /** What it was done with. */
    references: task.MemoryReference[];
    /** What was put in or found. */
    content: { [key: string]: unknown } | null;
    [key: string]: unknown;
  }

  /** The memory was used. */
  export interface MemoryPart_Input {
    /** Which part this is. */
    type?: "memory";
    /** What was done. */
    operation: task.MemoryOperation;
    /** What it was done with. */
    references: task.MemoryReference_Input[];
    /** What was put in or found. */
    content?: { [key: string]: unknown } | null;
    [key: string]: unknown;
  }

  /** One look of a guardrail. */
  export interface GuardrailCheck {
    /** Id of the check. */
    check_id: string;
    /** What it looked at. */
    check_type: task.GuardrailCheckType;
    /** What it found. */
    status: task.GuardrailStatus;
    /** The finding in words. */
    message: string | null;
    /** Policy that was not kept. */
    policy_violated: string | null;
    /** How bad it is. */
    severity: task.Severity | null;
    [key: string]: unknown;
  }

  /** One look of a guardrail. */
  export interface GuardrailCheck_Input {
    /** Id of the check. */
    check_id: string;
    /** What it looked at. */
    check_type: task.GuardrailCheckType;
    /** What it found. */
    status: task.GuardrailStatus;
    /** The finding in words. */
    message?: string | null;
    /** Policy that was not kept. */
    policy_violated?: string | null;
    /** How bad it is. */
    severity?: task.Severity | null;
    [key: string]: unknown;
  }

  /** Guardrails looked at the step. */
  export interface GuardrailPart {
    /** Which part this is. */
    type: "guardrail";
    /** What each of them found. */
    checks: task.GuardrailCheck[];
    /** The sum of it. */
    overall_status: task.GuardrailStatus;
    [key: string]: unknown;
  }

  /** Guardrails looked at the step. */
  export interface GuardrailPart_Input {
    /** Which part this is. */
    type?: "guardrail";
    /** What each of them found. */
    checks: task.GuardrailCheck_Input[];
    /** The sum of it. */
    overall_status: task.GuardrailStatus;
    [key: string]: unknown;
  }

  /** A few tokens of a reply. */
  export interface StreamChunk {
    /** Tells it from the events on a combined stream. */
    type: "content_chunk";
    /** Step that is being made. */
    step_id: string;
    /** Agent that speaks. */
    agent_name: string;
    /** The tokens as text. */
    text: string;
    /** Whether the reply ends here. @default false */
    is_final: boolean;
    /** How many tokens. */
    token_count: number | null;
    /** When they came. */
    timestamp: string;
  }

  /** A few tokens of a reply. */
  export interface StreamChunk_Input {
    /** Tells it from the events on a combined stream. */
    type?: "content_chunk";
    /** Step that is being made. */
    step_id: string;
    /** Agent that speaks. */
    agent_name: string;
    /** The tokens as text. */
    text: string;
    /** Whether the reply ends here. @default false */
    is_final?: boolean;
    /** How many tokens. */
    token_count?: number | null;
    /** When they came. */
    timestamp?: string;
  }

  /** Something happened to a task. */
  export type ExecutionEvent =
    | (task.TaskStartEvent & { type: "event_task_start" })
    | (task.TaskCompleteEvent & { type: "event_task_complete" })
    | (task.TaskPausedEvent & { type: "event_task_paused" })
    | (task.TaskResumedEvent & { type: "event_task_resumed" })
    | (task.AgentStartEvent & { type: "event_agent_start" })
    | (task.AgentCompleteEvent & { type: "event_agent_complete" })
    | (task.AgentHandoffEvent & { type: "event_agent_handoff" })
    | (task.ParallelExecutionStartEvent & { type: "event_parallel_start" })
    | (task.ParallelExecutionSyncEvent & { type: "event_parallel_sync" })
    | (task.ConsensusProposalEvent & { type: "event_consensus_proposal" })
    | (task.ConsensusVoteEvent & { type: "event_consensus_vote" })
    | (task.ConsensusReachedEvent & { type: "event_consensus_reached" })
    | (task.ToolCallEvent & { type: "event_tool_call" })
    | (task.ToolResultEvent & { type: "event_tool_result" })
    | (task.MemoryStoreEvent & { type: "event_memory_store" })
    | (task.MemoryRetrieveEvent & { type: "event_memory_retrieve" })
    | (task.MemoryConsolidateEvent & { type: "event_memory_consolidate" })
    | (task.HITLRequestEvent & { type: "event_hitl_request" })
    | (task.HITLResponseEvent & { type: "event_hitl_response" })
    | (task.GuardrailViolationEvent & { type: "event_guardrail_violation" })
    | (task.GuardrailPolicyUpdateEvent & { type: "event_guardrail_policy_update" })
    | (task.ArtifactCreatedEvent & { type: "event_artifact_created" })
    | (task.ArtifactModifiedEvent & { type: "event_artifact_modified" })
    | (task.ArtifactVersionedEvent & { type: "event_artifact_versioned" })
    | (task.ErrorEvent & { type: "event_error" })
    | (task.RecoveryEvent & { type: "event_recovery" })
    | (task.BreakpointHitEvent & { type: "event_breakpoint_hit" })
    | (task.UserInterventionEvent & { type: "event_user_intervention" })
    | (task.HealthCheckEvent & { type: "event_health_check" })
    | (task.PerformanceMetricEvent & { type: "event_performance_metric" });

  /** Something happened to a task. */
  export type ExecutionEvent_Input =
    | (task.TaskStartEvent_Input & { type: "event_task_start" })
    | (task.TaskCompleteEvent_Input & { type: "event_task_complete" })
    | (task.TaskPausedEvent_Input & { type: "event_task_paused" })
    | (task.TaskResumedEvent_Input & { type: "event_task_resumed" })
    | (task.AgentStartEvent_Input & { type: "event_agent_start" })
    | (task.AgentCompleteEvent_Input & { type: "event_agent_complete" })
    | (task.AgentHandoffEvent_Input & { type: "event_agent_handoff" })
    | (task.ParallelExecutionStartEvent_Input & { type: "event_parallel_start" })
    | (task.ParallelExecutionSyncEvent_Input & { type: "event_parallel_sync" })
    | (task.ConsensusProposalEvent_Input & { type: "event_consensus_proposal" })
    | (task.ConsensusVoteEvent_Input & { type: "event_consensus_vote" })
    | (task.ConsensusReachedEvent_Input & { type: "event_consensus_reached" })
    | (task.ToolCallEvent_Input & { type: "event_tool_call" })
    | (task.ToolResultEvent_Input & { type: "event_tool_result" })
    | (task.MemoryStoreEvent_Input & { type: "event_memory_store" })
    | (task.MemoryRetrieveEvent_Input & { type: "event_memory_retrieve" })
    | (task.MemoryConsolidateEvent_Input & { type: "event_memory_consolidate" })
    | (task.HITLRequestEvent_Input & { type: "event_hitl_request" })
    | (task.HITLResponseEvent_Input & { type: "event_hitl_response" })
    | (task.GuardrailViolationEvent_Input & { type: "event_guardrail_violation" })
    | (task.GuardrailPolicyUpdateEvent_Input & { type: "event_guardrail_policy_update" })
    | (task.ArtifactCreatedEvent_Input & { type: "event_artifact_created" })
    | (task.ArtifactModifiedEvent_Input & { type: "event_artifact_modified" })
    | (task.ArtifactVersionedEvent_Input & { type: "event_artifact_versioned" })
    | (task.ErrorEvent_Input & { type: "event_error" })
    | (task.RecoveryEvent_Input & { type: "event_recovery" })
    | (task.BreakpointHitEvent_Input & { type: "event_breakpoint_hit" })
    | (task.UserInterventionEvent_Input & { type: "event_user_intervention" })
    | (task.HealthCheckEvent_Input & { type: "event_health_check" })
    | (task.PerformanceMetricEvent_Input & { type: "event_performance_metric" });

  /** A task began. */
  export interface TaskStartEvent {
    /** Which event this is. */
    type: "event_task_start";
    /** The task. */
    task_id: string;
    /** When. */
    timestamp: string;
    /** What it was asked to do. */
    initial_prompt: string;
    /** Mode it began in. */
    execution_mode: string;
    /** Team that works on it, as configured then. */
    team_config: { [key: string]: unknown };
  }

  /** A task began. */
  export interface TaskStartEvent_Input {
    /** Which event this is. */
    type?: "event_task_start";
    /** The task. */
    task_id: string;
    /** When. */
    timestamp: string;
    /** What it was asked to do. */
    initial_prompt: string;
    /** Mode it began in. */
    execution_mode: string;
    /** Team that works on it, as configured then. */
    team_config: { [key: string]: unknown };
  }

  /** A task ended. */
  export interface TaskCompleteEvent {
    /** Which event this is. */
    type: "event_task_complete";
    /** The task. */
    task_id: string;
    /** When. */
    timestamp: string;
    /** How it ended. */
    final_status: task.FinalStatus;
    /** What came out, in words. */
    summary: string | null;
    /** Files it made. @default [] */
    artifacts_created: string[];
    /** Steps it took. */
    total_steps: number;
    /** Time it took. */
    total_duration_ms: number;
  }

  /** A task ended. */
  export interface TaskCompleteEvent_Input {
    /** Which event this is. */
    type?: "event_task_complete";
    /** The task. */
    task_id: string;
    /** When. */
    timestamp: string;
    /** How it ended. */
    final_status: task.FinalStatus;
    /** What came out, in words. */
    summary?: string | null;
    /** Files it made. @default [] */
    artifacts_created?: string[];
    /** Steps it took. */
    total_steps: number;
    /** Time it took. */
    total_duration_ms: number;
  }

  /** A task stopped for a while. */
  export interface TaskPausedEvent {
    /** Which event this is. */
    type: "event_task_paused";
    /** The task. */
    task_id: string;
    /** When. */
    timestamp: string;
    /** Why. */
    reason: task.PauseReason;
    /** Where it stands. @default {} */
    context: { [key: string]: unknown };
  }

  /** A task stopped for a while. */
  export interface TaskPausedEvent_Input {
    /** Which event this is. */
    type?: "event_task_paused";
    /** The task. */
    task_id: string;
    /** When. */
    timestamp: string;
    /** Why. */
    reason: task.PauseReason;
    /** Where it stands. @default {} */
    context?: { [key: string]: unknown };
  }

  /** A task goes on. */
  export interface TaskResumedEvent {
    /** Which event this is. */
    type: "event_task_resumed";
    /** The task. */
    task_id: string;
    /** When. */
    timestamp: string;
    /** Why. */
    reason: string;
    /** Where it stands. @default {} */
    context: { [key: string]: unknown };
  }

  /** A task goes on. */
  export interface TaskResumedEvent_Input {
    /** Which event this is. */
    type?: "event_task_resumed";
    /** The task. */
    task_id: string;
    /** When. */
    timestamp: string;
    /** Why. */
    reason: string;
    /** Where it stands. @default {} */
    context?: { [key: string]: unknown };
  }

  /** An agent's turn began. */
  export interface AgentStartEvent {
    /** Which event this is. */
    type: "event_agent_start";
    /** The agent. */
    agent_name: string;
    /** Step the turn becomes. */
    step_id: string;
    /** When. */
    timestamp: string;
    /** Tokens it was given. */
    context_size: number | null;
    /** Memories among them. */
    memory_retrieved: number | null;
  }

  /** An agent's turn began. */
  export interface AgentStartEvent_Input {
    /** Which event this is. */
    type?: "event_agent_start";
    /** The agent. */
    agent_name: string;
    /** Step the turn becomes. */
    step_id: string;
    /** When. */
    timestamp: string;
    /** Tokens it was given. */
    context_size?: number | null;
    /** Memories among them. */
    memory_retrieved?: number | null;
  }

  /** An agent's turn is over. */
  export interface AgentCompleteEvent {
    /** Which event this is. */
    type: "event_agent_complete";
    /** The agent. */
    agent_name: string;
    /** Step the turn became. */
    step_id: string;
    /** When. */
    timestamp: string;
    /** Tokens it produced. */
    token_count: number | null;
    /** How long it took. */
    execution_time_ms: number | null;
    /** Memories it left. */
    memory_stored: number | null;
  }

  /** An agent's turn is over. */
  export interface AgentCompleteEvent_Input {
    /** Which event this is. */
    type?: "event_agent_complete";
    /** The agent. */
    agent_name: string;
    /** Step the turn became. */
    step_id: string;
    /** When. */
    timestamp: string;
    /** Tokens it produced. */
    token_count?: number | null;
    /** How long it took. */
    execution_time_ms?: number | null;
    /** Memories it left. */
    memory_stored?: number | null;
  }

  /** Work passed from one agent to another. */
  export interface AgentHandoffEvent {
    /** Which event this is. */
    type: "event_agent_handoff";
    /** Who had it. */
    from_agent: string;
    /** Who has it now. */
    to_agent: string;
    /** Why. */
    reason: string;
    /** When. */
    timestamp: string;
    /** What was passed along. @default {} */
    context: { [key: string]: unknown };
    /** How it passed. @default "sequential" */
    handoff_type: task.HandoffType;
  }

  /** Work passed from one agent to another. */
  export interface AgentHandoffEvent_Input {
    /** Which event this is. */
    type?: "event_agent_handoff";
    /** Who had it. */
    from_agent: string;
    /** Who has it now. */
    to_agent: string;
    /** Why. */
    reason: string;
    /** When. */
    timestamp: string;
    /** What was passed along. @default {} */
    context?: { [key: string]: unknown };
    /** How it passed. @default "sequential" */
    handoff_type?: task.HandoffType;
  }

  /** Several agents began to work at once. */
  export interface ParallelExecutionStartEvent {
    /** Which event this is. */
    type: "event_parallel_start";
    /** The agents. */
    agents: string[];
    /** Who looks after them. */
    coordination_agent: string | null;
    /** When. */
    timestamp: string;
    /** Where they wait for each other. @default [] */
    sync_points: string[];
  }

  /** Several agents began to work at once. */
  export interface ParallelExecutionStartEvent_Input {
    /** Which event this is. */
    type?: "event_parallel_start";
    /** The agents. */
    agents: string[];
    /** Who looks after them. */
    coordination_agent?: string | null;
    /** When. */
    timestamp: string;
    /** Where they wait for each other. @default [] */
    sync_points?: string[];
  }

  /** Agents that work at once met. */
  export interface ParallelExecutionSyncEvent {
    /** Which event this is. */
    type: "event_parallel_sync";
    /** Where. */
    sync_point: string;
    /** Who is there. */
    completed_agents: string[];
    /** Who waits. */
    waiting_agents: string[];
    /** When. */
    timestamp: string;
  }

  /** Agents that work at once met. */
  export interface ParallelExecutionSyncEvent_Input {
    /** Which event this is. */
    type?: "event_parallel_sync";
    /** Where. */
    sync_point: string;
    /** Who is there. */
    completed_agents: string[];
    /** Who waits. */
    waiting_agents: string[];
    /** When. */
    timestamp: string;
  }

  /** An agent proposed a decision. */
  export interface ConsensusProposalEvent {
    /** Which event this is. */
    type: "event_consensus_proposal";
    /** Id of the proposal. */
    proposal_id: string;
    /** Who proposes. */
    proposer_agent: string;
    /** What is to be decided. */
    decision: string;
    /** Who votes. */
    stakeholders: string[];
    /** When. */
    timestamp: string;
  }

  /** An agent proposed a decision. */
  export interface ConsensusProposalEvent_Input {
    /** Which event this is. */
    type?: "event_consensus_proposal";
    /** Id of the proposal. */
    proposal_id: string;
    /** Who proposes. */
    proposer_agent: string;
    /** What is to be decided. */
    decision: string;
    /** Who votes. */
    stakeholders: string[];
    /** When. */
    timestamp: string;
  }

  /** An agent voted. */
  export interface ConsensusVoteEvent {
    /** Which event this is. */
    type: "event_consensus_vote";
    /** The proposal. */
    proposal_id: string;
    /** Who votes. */
    voter_agent: string;
    /** The vote. */
    vote: string;
    /** What speaks for it. */
    reasoning: string;
    /** When. */
    timestamp: string;
  }

  /** An agent voted. */
  export interface ConsensusVoteEvent_Input {
    /** Which event this is. */
    type?: "event_consensus_vote";
    /** The proposal. */
    proposal_id: string;
    /** Who votes. */
    voter_agent: string;
    /** The vote. */
    vote: string;
    /** What speaks for it. */
    reasoning: string;
    /** When. */
    timestamp: string;
  }

  /** A proposal is decided. */
  export interface ConsensusReachedEvent {
    /** Which event this is. */
    type: "event_consensus_reached";
    /** The proposal. */
    proposal_id: string;
    /** What was decided. */
    final_decision: string;
    /** Votes by agent. */
    votes: { [key: string]: string };
    /** When. */
    timestamp: string;
  }

  /** A proposal is decided. */
  export interface ConsensusReachedEvent_Input {
    /** Which event this is. */
    type?: "event_consensus_reached";
    /** The proposal. */
    proposal_id: string;
    /** What was decided. */
    final_decision: string;
    /** Votes by agent. */
    votes: { [key: string]: string };
    /** When. */
    timestamp: string;
  }

  /** A tool was called. */
  export interface ToolCallEvent {
    /** Which event this is. */
    type: "event_tool_call";
    /** The call. */
    tool_call: task.ToolCall;
    /** Who called. */
    agent_name: string;
    /** When. */
    timestamp: string;
    /** Sandbox it runs in. */
    sandbox_id: string | null;
  }

  /** A tool was called. */
  export interface ToolCallEvent_Input {
    /** Which event this is. */
    type?: "event_tool_call";
    /** The call. */
    tool_call: task.ToolCall_Input;
    /** Who called. */
    agent_name: string;
    /** When. */
    timestamp: string;
    /** Sandbox it runs in. */
    sandbox_id?: string | null;
  }

  /** A tool answered. */
  export interface ToolResultEvent {
    /** Which event this is. */
    type: "event_tool_result";
    /** The answer. */
    tool_result: task.ToolResult;
    /** When. */
    timestamp: string;
    /** How long it took. */
    execution_time_ms: number | null;
    /** Sandbox it ran in. */
    sandbox_id: string | null;
  }

  /** A tool answered. */
  export interface ToolResultEvent_Input {
    /** Which event this is. */
    type?: "event_tool_result";
    /** The answer. */
    tool_result: task.ToolResult_Input;
    /** When. */
    timestamp: string;
    /** How long it took. */
    execution_time_ms?: number | null;
    /** Sandbox it ran in. */
    sandbox_id?: string | null;
  }

  /** Something was put into memory. */
  export interface MemoryStoreEvent {
    /** Which event this is. */
    type: "event_memory_store";
    /** Id of the memory. */
    memory_id: string;
    /** Which memory it is in. */
    memory_type: task.MemoryType;
    /** Who put it there. */
    agent_name: string;
    /** How much it is. */
    content_size: number;
    /** When. */
    timestamp: string;
  }

  /** Something was put into memory. */
  export interface MemoryStoreEvent_Input {
    /** Which event this is. */
    type?: "event_memory_store";
    /** Id of the memory. */
    memory_id: string;
    /** Which memory it is in. */
    memory_type: task.MemoryType;
    /** Who put it there. */
    agent_name: string;
    /** How much it is. */
    content_size: number;
    /** When. */
    timestamp: string;
  }

  /** Memory was searched. */
  export interface MemoryRetrieveEvent {
    /** Which event this is. */
    type: "event_memory_retrieve";
    /** What was looked for. */
    query: string;
    /** How much was found. */
    results_count: number;
    /** Who looked. */
    agent_name: string;
    /** When. */
    timestamp: string;
    /** Score a result needed. */
    relevance_threshold: number | null;
  }

  /** Memory was searched. */
  export interface MemoryRetrieveEvent_Input {
    /** Which event this is. */
    type?: "event_memory_retrieve";
    /** What was looked for. */
    query: string;
    /** How much was found. */
    results_count: number;
    /** Who looked. */
    agent_name: string;
    /** When. */
    timestamp: string;
    /** Score a result needed. */
    relevance_threshold?: number | null;
  }

  /** Several memories became one. */
  export interface MemoryConsolidateEvent {
    /** Which event this is. */
    type: "event_memory_consolidate";
    /** What they are about. */
    topic: string;
    /** How many they were. */
    items_consolidated: number;
    /** When. */
    timestamp: string;
    /** How long the new one is. */
    summary_length: number;
  }

  /** Several memories became one. */
  export interface MemoryConsolidateEvent_Input {
    /** Which event this is. */
    type?: "event_memory_consolidate";
    /** What they are about. */
    topic: string;
    /** How many they were. */
    items_consolidated: number;
    /** When. */
    timestamp: string;
    /** How long the new one is. */
    summary_length: number;
  }

  /** A person is asked. */
  export interface HITLRequestEvent {
    /** Which event this is. */
    type: "event_hitl_request";
    /** Id of the request. */
    request_id: string;
    /** What for. */
    request_type: task.HITLRequestType;
    /** Who asks. */
    agent_name: string;
    /** What the person needs to know. */
    context: { [key: string]: unknown };
    /** Seconds until it is answered by itself. */
    timeout: number | null;
    /** When. */
    timestamp: string;
  }

  /** A person is asked. */
  export interface HITLRequestEvent_Input {
    /** Which event this is. */
    type?: "event_hitl_request";
    /** Id of the request. */
    request_id: string;
    /** What for. */
    request_type: task.HITLRequestType;
    /** Who asks. */
    agent_name: string;
    /** What the person needs to know. */
    context: { [key: string]: unknown };
    /** Seconds until it is answered by itself. */
    timeout?: number | null;
    /** When. */
    timestamp: string;
  }

  /** A person has answered, or nobody has in time. */
  export interface HITLResponseEvent {
    /** Which event this is. */
    type: "event_hitl_response";
    /** The request. */
    request_id: string;
    /** The answer. */
    response_type: task.HITLResponseType;
    /** What came with it. */
    response_data: { [key: string]: unknown };
    /** How long it took. */
    response_time_ms: number;
    /** When. */
    timestamp: string;
  }

  /** A person has answered, or nobody has in time. */
  export interface HITLResponseEvent_Input {
    /** Which event this is. */
    type?: "event_hitl_response";
    /** The request. */
    request_id: string;
    /** The answer. */
    response_type: task.HITLResponseType;
    /** What came with it. */
    response_data: { [key: string]: unknown };
    /** How long it took. */
    response_time_ms: number;
    /** When. */
    timestamp: string;
  }

  /** A guardrail found a violation. */
  export interface GuardrailViolationEvent {
    /** Which event this is. */
    type: "event_guardrail_violation";
    /** Id of the violation. */
    violation_id: string;
    /** What was looked at. */
    check_type: task.GuardrailCheckType;
    /** How bad it is. */
    severity: task.Severity;
    /** Policy that was not kept. */
    policy_violated: string;
    /** Agent it happened to. */
    agent_name: string | null;
    /** A little of what was found, redacted. */
    content_sample: string | null;
    /** What was done about it. */
    action_taken: task.GuardrailActionTaken;
    /** When. */
    timestamp: string;
  }

  /** A guardrail found a violation. */
  export interface GuardrailViolationEvent_Input {
    /** Which event this is. */
    type?: "event_guardrail_violation";
    /** Id of the violation. */
    violation_id: string;
    /** What was looked at. */
    check_type: task.GuardrailCheckType;
    /** How bad it is. */
    severity: task.Severity;
    /** Policy that was not kept. */
    policy_violated: string;
    /** Agent it happened to. */
    agent_name?: string | null;
    /** A little of what was found, redacted. */
    content_sample?: string | null;
    /** What was done about it. */
    action_taken: task.GuardrailActionTaken;
    /** When. */
    timestamp: string;
  }

  /** A policy is not what it was. */
  export interface GuardrailPolicyUpdateEvent {
    /** Which event this is. */
    type: "event_guardrail_policy_update";
    /** The policy. */
    policy_name: string;
    /** What happened to it. */
    update_type: task.GuardrailPolicyUpdate;
    /** Who did it. */
    updated_by: string;
    /** When. */
    timestamp: string;
  }

  /** A policy is not what it was. */
  export interface GuardrailPolicyUpdateEvent_Input {
    /** Which event this is. */
    type?: "event_guardrail_policy_update";
    /** The policy. */
    policy_name: string;
    /** What happened to it. */
    update_type: task.GuardrailPolicyUpdate;
    /** Who did it. */
    updated_by: string;
    /** When. */
    timestamp: string;
  }

  /** A file was made. */
  export interface ArtifactCreatedEvent {
    /** Which event this is. */
    type: "event_artifact_created";
    /** The file. */
    artifact: task.Artifact;
    /** Who made it. */
    created_by: string;
    /** When. */
    timestamp: string;
  }

  /** A file was made. */
  export interface ArtifactCreatedEvent_Input {
    /** Which event this is. */
    type?: "event_artifact_created";
    /** The file. */
    artifact: task.Artifact_Input;
    /** Who made it. */
    created_by: string;
    /** When. */
    timestamp: string;
  }

  /** A file was changed. */
  export interface ArtifactModifiedEvent {
    /** Which event this is. */
    type: "event_artifact_modified";
    /** The file. */
    artifact_uri: string;
    /** Who changed it. */
    modified_by: string;
    /** What changed. */
    changes: { [key: string]: unknown };
    /** Version it has now. */
    version: string;
    /** When. */
    timestamp: string;
  }

  /** A file was changed. */
  export interface ArtifactModifiedEvent_Input {
    /** Which event this is. */
    type?: "event_artifact_modified";
    /** The file. */
    artifact_uri: string;
    /** Who changed it. */
    modified_by: string;
    /** What changed. */
    changes: { [key: string]: unknown };
    /** Version it has now. */
    version: string;
    /** When. */
    timestamp: string;
  }

  /** A file has a new version. */
  export interface ArtifactVersionedEvent {
    /** Which event this is. */
    type: "event_artifact_versioned";
    /** The file. */
    artifact_uri: string;
    /** Version it had. */
    old_version: string;
    /** Version it has now. */
    new_version: string;
    /** Why. */
    reason: string;
    /** When. */
    timestamp: string;
  }

  /** A file has a new version. */
  export interface ArtifactVersionedEvent_Input {
    /** Which event this is. */
    type?: "event_artifact_versioned";
    /** The file. */
    artifact_uri: string;
    /** Version it had. */
    old_version: string;
    /** Version it has now. */
    new_version: string;
    /** Why. */
    reason: string;
    /** When. */
    timestamp: string;
  }

  /** Something went wrong. */
  export interface ErrorEvent {
    /** Which event this is. */
    type: "event_error";
    /** Id of the error. */
    error_id: string;
    /** What kind of error. */
    error_type: string;
    /** What happened, in words. */
    error_message: string;
    /** Where it happened. */
    context: { [key: string]: unknown };
    /** When. */
    timestamp: string;
    /** Whether the task can go on. */
    recoverable: boolean;
    /** What is done about it. */
    recovery_action: string | null;
    /** Where in the program. */
    stack_trace: string | null;
  }

  /** Something went wrong. */
  export interface ErrorEvent_Input {
    /** Which event this is. */
    type?: "event_error";
    /** Id of the error. */
    error_id: string;
    /** What kind of error. */
    error_type: string;
    /** What happened, in words. */
    error_message: string;
    /** Where it happened. */
    context: { [key: string]: unknown };
    /** When. */
    timestamp: string;
    /** Whether the task can go on. */
    recoverable: boolean;
    /** What is done about it. */
    recovery_action?: string | null;
    /** Where in the program. */
    stack_trace?: string | null;
  }

  /** Recovery from an error was tried. */
  export interface RecoveryEvent {
    /** Which event this is. */
    type: "event_recovery";
    /** The error. */
    error_id: string;
    /** What was tried. */
    recovery_strategy: string;
    /** Whether it helped. */
    success: boolean;
    /** When. */
    timestamp: string;
    /** More about it. @default {} */
    details: { [key: string]: unknown };
  }

  /** Recovery from an error was tried. */
  export interface RecoveryEvent_Input {
    /** Which event this is. */
    type?: "event_recovery";
    /** The error. */
    error_id: string;
    /** What was tried. */
    recovery_strategy: string;
    /** Whether it helped. */
    success: boolean;
    /** When. */
    timestamp: string;
    /** More about it. @default {} */
    details?: { [key: string]: unknown };
  }

  /** A breakpoint was reached. */
  export interface BreakpointHitEvent {
    /** Which event this is. */
    type: "event_breakpoint_hit";
    /** The breakpoint. */
    breakpoint_id: string;
    /** What it watches for. */
    breakpoint_type: string;
    /** Where the task stands. */
    context: { [key: string]: unknown };
    /** When. */
    timestamp: string;
    /** Agent whose turn it is. */
    agent_name: string | null;
  }

  /** A breakpoint was reached. */
  export interface BreakpointHitEvent_Input {
    /** Which event this is. */
    type?: "event_breakpoint_hit";
    /** The breakpoint. */
    breakpoint_id: string;
    /** What it watches for. */
    breakpoint_type: string;
    /** Where the task stands. */
    context: { [key: string]: unknown };
    /** When. */
    timestamp: string;
    /** Agent whose turn it is. */
    agent_name?: string | null;
  }

  /** A person stepped in. */
  export interface UserInterventionEvent {
    /** Which event this is. */
    type: "event_user_intervention";
    /** Id of the intervention. */
    intervention_id: string;
    /** What kind of it. */
    intervention_type: task.InterventionType;
    /** What is to change. */
    details: { [key: string]: unknown };
    /** When. */
    timestamp: string;
    /** Who it was. */
    user_id: string | null;
  }

  /** A person stepped in. */
  export interface UserInterventionEvent_Input {
    /** Which event this is. */
    type?: "event_user_intervention";
    /** Id of the intervention. */
    intervention_id: string;
    /** What kind of it. */
    intervention_type: task.InterventionType;
    /** What is to change. */
    details: { [key: string]: unknown };
    /** When. */
    timestamp: string;
    /** Who it was. */
    user_id?: string | null;
  }

  /** A component was looked at. */
  export interface HealthCheckEvent {
    /** Which event this is. */
    type: "event_health_check";
    /** The component. */
    component: string;
    /** How it is. */
    status: task.HealthStatus;
    /** What was measured. */
    metrics: { [key: string]: unknown };
    /** When. */
    timestamp: string;
  }

  /** A component was looked at. */
  export interface HealthCheckEvent_Input {
    /** Which event this is. */
    type?: "event_health_check";
    /** The component. */
    component: string;
    /** How it is. */
    status: task.HealthStatus;
    /** What was measured. */
    metrics: { [key: string]: unknown };
    /** When. */
    timestamp: string;
  }

  /** Something was measured. */
  export interface PerformanceMetricEvent {
    /** Which event this is. */
    type: "event_performance_metric";
    /** What. */
    metric_name: string;
    /** The number. */
    metric_value: number;
    /** What it counts. */
    metric_unit: string;
    /** Where it was measured. */
    component: string;
    /** When. */
    timestamp: string;
    /** What it can be grouped by. @default {} */
    tags: { [key: string]: string };
  }

  /** Something was measured. */
  export interface PerformanceMetricEvent_Input {
    /** Which event this is. */
    type?: "event_performance_metric";
    /** What. */
    metric_name: string;
    /** The number. */
    metric_value: number;
    /** What it counts. */
    metric_unit: string;
    /** Where it was measured. */
    component: string;
    /** When. */
    timestamp: string;
    /** What it can be grouped by. @default {} */
    tags?: { [key: string]: string };
  }

  /** Which model, and how to reach it. */
  export interface LLMConfig {
    /** Who serves it. @default "deepseek" */
    provider: string;
    /** Name of the model. @default "deepseek-chat" */
    model: string;
    /** How freely it picks its words. @default 0.7 */
    temperature: number;
    /** Longest reply. */
    max_tokens: number | null;
    /** Where its key is kept. */
    api_key: string | null;
    /** Its address, when it is not the provider's usual one. */
    base_url: string | null;
    /** Seconds a reply may take. @default 30 */
    timeout: number;
    /** When and how often to try again. @default {} */
    retry_policy: { [key: string]: unknown };
  }

  /** Which model, and how to reach it. */
  export interface LLMConfig_Input {
    /** Who serves it. @default "deepseek" */
    provider?: string;
    /** Name of the model. @default "deepseek-chat" */
    model?: string;
    /** How freely it picks its words. @default 0.7 */
    temperature?: number;
    /** Longest reply. */
    max_tokens?: number | null;
    /** Where its key is kept. */
    api_key?: string | null;
    /** Its address, when it is not the provider's usual one. */
    base_url?: string | null;
    /** Seconds a reply may take. @default 30 */
    timeout?: number;
    /** When and how often to try again. @default {} */
    retry_policy?: { [key: string]: unknown };
  }

  /** A tool the team can use. */
  export interface ToolConfig {
    /** Name agents call it by. */
    name: string;
    /** Where it comes from. */
    type: task.ToolType;
    /** Its own settings. @default {} */
    config: { [key: string]: unknown };
    /** custom: the file it is in. */
    path: string | null;
    /** custom: what to call in that file. */
    function: string | null;
    /** mcp: address of the server. */
    server_url: string | null;
    /** hitl: seconds a person has for the answer. */
    timeout: number | null;
    /** hitl: what happens when nobody answers. */
    escalation_policy: string | null;
  }

  /** A tool the team can use. */
  export interface ToolConfig_Input {
    /** Name agents call it by. */
    name: string;
    /** Where it comes from. */
    type: task.ToolType;
    /** Its own settings. @default {} */
    config?: { [key: string]: unknown };
    /** custom: the file it is in. */
    path?: string | null;
    /** custom: what to call in that file. */
    function?: string | null;
    /** mcp: address of the server. */
    server_url?: string | null;
    /** hitl: seconds a person has for the answer. */
    timeout?: number | null;
    /** hitl: what happens when nobody answers. */
    escalation_policy?: string | null;
  }

  /** An agent may pass its work to another. */
  export interface HandoffRule {
    /** Who passes it. */
    from_agent: string;
    /** Who gets it. */
    to_agent: string;
    /** When. */
    condition: string | null;
    /** How it passes. @default "sequential" */
    handoff_type: task.HandoffType;
  }

  /** An agent may pass its work to another. */
  export interface HandoffRule_Input {
    /** Who passes it. */
    from_agent: string;
    /** Who gets it. */
    to_agent: string;
    /** When. */
    condition?: string | null;
    /** How it passes. @default "sequential" */
    handoff_type?: task.HandoffType;
  }

  /** Agents that work together in a certain way. */
  export interface CollaborationPattern {
    /** Name agents refer to it by. */
    name: string;
    /** The way. */
    type: task.CollaborationPatternType;
    /** Who takes part. */
    agents: string[];
    /** Who looks after the others. */
    coordination_agent: string | null;
    /** Settings of the way. @default {} */
    config: { [key: string]: unknown };
  }

  /** Agents that work together in a certain way. */
  export interface CollaborationPattern_Input {
    /** Name agents refer to it by. */
    name: string;
    /** The way. */
    type: task.CollaborationPatternType;
    /** Who takes part. */
    agents: string[];
    /** Who looks after the others. */
    coordination_agent?: string | null;
    /** Settings of the way. @default {} */
    config?: { [key: string]: unknown };
  }

  /** What is not let through, and what is done about it. */
  export interface GuardrailPolicy {
    /** Name agents refer to it by. */
    name: string;
    /** What it looks at. */
    type: task.GuardrailPolicyType;
    /** What it looks for; each type has its own form. */
    rules: { [key: string]: unknown }[];
    /** How bad a violation is. @default "medium" */
    severity: task.Severity;
    /** What is done about one. @default "warn" */
    action: task.GuardrailAction;
  }

  /** What is not let through, and what is done about it. */
  export interface GuardrailPolicy_Input {
    /** Name agents refer to it by. */
    name: string;
    /** What it looks at. */
    type: task.GuardrailPolicyType;
    /** What it looks for; each type has its own form. */
    rules: { [key: string]: unknown }[];
    /** How bad a violation is. @default "medium" */
    severity?: task.Severity;
    /** What is done about one. @default "warn" */
    action?: task.GuardrailAction;
  }

  /** What is remembered, and how. */
  export interface MemoryConfig {
    /** Tokens of recent context. @default 10000 */
    short_term_limit: number;
    /** Whether anything is kept beyond it. @default true */
    long_term_enabled: boolean;
    /** Whether it can be searched by meaning. @default true */
    semantic_search_enabled: boolean;
    /** Seconds between consolidations. @default 3600 */
    consolidation_interval: number;
    /** Settings of the index. @default {} */
    vector_db_config: { [key: string]: unknown };
  }

  /** What is remembered, and how. */
  export interface MemoryConfig_Input {
    /** Tokens of recent context. @default 10000 */
    short_term_limit?: number;
    /** Whether anything is kept beyond it. @default true */
    long_term_enabled?: boolean;
    /** Whether it can be searched by meaning. @default true */
    semantic_search_enabled?: boolean;
    /** Seconds between consolidations. @default 3600 */
    consolidation_interval?: number;
    /** Settings of the index. @default {} */
    vector_db_config?: { [key: string]: unknown };
  }

  /** A member of the team. */
  export interface AgentConfig {
    /** Its name. */
    name: string;
    /** What it is there for. */
    role: string;
    /** Path of the template its prompt is made from. */
    prompt_template: string;
    /** Its model, when it is not the team's. */
    llm_config: task.LLMConfig | null;
    /** Tools of the team it may use. @default [] */
    tools: string[];
    /** Its memory, when it is not the team's. */
    memory_config: task.MemoryConfig | null;
    /** Policies of the team that watch it. @default [] */
    guardrail_policies: string[];
    /** Patterns of the team it can start. @default [] */
    collaboration_patterns: string[];
    /** Things it does at once. @default 1 */
    max_parallel_tasks: number;
  }

  /** A member of the team. */
  export interface AgentConfig_Input {
    /** Its name. */
    name: string;
    /** What it is there for. */
    role: string;
    /** Path of the template its prompt is made from. */
    prompt_template: string;
    /** Its model, when it is not the team's. */
    llm_config?: task.LLMConfig_Input | null;
    /** Tools of the team it may use. @default [] */
    tools?: string[];
    /** Its memory, when it is not the team's. */
    memory_config?: task.MemoryConfig_Input | null;
    /** Policies of the team that watch it. @default [] */
    guardrail_policies?: string[];
    /** Patterns of the team it can start. @default [] */
    collaboration_patterns?: string[];
    /** Things it does at once. @default 1 */
    max_parallel_tasks?: number;
  }

  /** How a task runs and when it is over. */
  export interface ExecutionConfig {
    /** How far it goes on by itself. @default "autonomous" */
    mode: task.ExecutionMode;
    /** Seconds it may take. */
    timeout: number | null;
    /** Steps it may take. */
    max_steps: number | null;
    /** Where it pauses. @default [] */
    breakpoints: string[];
    /** Where a person is asked. @default [] */
    human_intervention_points: string[];
    /** What must hold for success. @default [] */
    success_criteria: string[];
    /** What means failure. @default [] */
    failure_criteria: string[];
  }

  /** How a task runs and when it is over. */
  export interface ExecutionConfig_Input {
    /** How far it goes on by itself. @default "autonomous" */
    mode?: task.ExecutionMode;
    /** Seconds it may take. */
    timeout?: number | null;
    /** Steps it may take. */
    max_steps?: number | null;
    /** Where it pauses. @default [] */
    breakpoints?: string[];
    /** Where a person is asked. @default [] */
    human_intervention_points?: string[];
    /** What must hold for success. @default [] */
    success_criteria?: string[];
    /** What means failure. @default [] */
    failure_criteria?: string[];
  }

  /** A team: who is in it, what they may use, how they work. */
  export interface TeamConfig {
    /** Name of the team. */
    name: string;
    /** What it is good for. */
    description: string;
    /** The author's own version. @default "1.0.0" */
    version: string;
    /** Model of every agent that has none of its own. */
    default_llm: task.LLMConfig;
    /** Its members. */
    agents: task.AgentConfig[];
    /** What they can use. */
    tools: task.ToolConfig[];
    /** Who passes work to whom. @default [] */
    handoff_rules: task.HandoffRule[];
    /** How they work together. @default [] */
    collaboration_patterns: task.CollaborationPattern[];
    /** What is not let through. @default [] */
    guardrail_policies: task.GuardrailPolicy[];
    /** Memory of every agent that has none of its own. @default {} */
    memory_config: task.MemoryConfig;
    /** How its tasks run. @default {} */
    execution_config: task.ExecutionConfig;
    /** Settings of the place it runs in. @default {} */
    deployment_config: { [key: string]: unknown };
  }

  /** A team: who is in it, what they may use, how they work. */
  export interface TeamConfig_Input {
    /** Name of the team. */
    name: string;
    /** What it is good for. */
    description: string;
    /** The author's own version. @default "1.0.0" */
    version?: string;
    /** Model of every agent that has none of its own. */
    default_llm: task.LLMConfig_Input;
    /** Its members. */
    agents: task.AgentConfig_Input[];
    /** What they can use. */
    tools: task.ToolConfig_Input[];
    /** Who passes work to whom. @default [] */
    handoff_rules?: task.HandoffRule_Input[];
    /** How they work together. @default [] */
    collaboration_patterns?: task.CollaborationPattern_Input[];
    /** What is not let through. @default [] */
    guardrail_policies?: task.GuardrailPolicy_Input[];
    /** Memory of every agent that has none of its own. @default {} */
    memory_config?: task.MemoryConfig_Input;
    /** How its tasks run. @default {} */
    execution_config?: task.ExecutionConfig_Input;
    /** Settings of the place it runs in. @default {} */
    deployment_config?: { [key: string]: unknown };
  }

  /** A LangChain set-up to make a team of. */
  export interface LangChainImport {
    /** Kind of chain. */
    chain_type: string;
    /** The chain. */
    chain_config: { [key: string]: unknown };
    /** Its agents. */
    agents: { [key: string]: unknown }[];
    /** Its tools. */
    tools: { [key: string]: unknown }[];
    /** Its memory. */
    memory_config: { [key: string]: unknown } | null;
  }

  /** A LangChain set-up to make a team of. */
  export interface LangChainImport_Input {
    /** Kind of chain. */
    chain_type: string;
    /** The chain. */
    chain_config: { [key: string]: unknown };
    /** Its agents. */
    agents: { [key: string]: unknown }[];
    /** Its tools. */
    tools: { [key: string]: unknown }[];
    /** Its memory. */
    memory_config?: { [key: string]: unknown } | null;
  }

  /** A team as a LangChain set-up. */
  export interface LangChainExport {
    /** The team. */
    agentx_team: task.TeamConfig;
    /** The same for LangChain. */
    langchain_equivalent: { [key: string]: unknown };
    /** What did not fit. */
    migration_notes: string[];
  }

  /** A team as a LangChain set-up. */
  export interface LangChainExport_Input {
    /** The team. */
    agentx_team: task.TeamConfig_Input;
    /** The same for LangChain. */
    langchain_equivalent: { [key: string]: unknown };
    /** What did not fit. */
    migration_notes: string[];
  }

  /** An AutoGen group chat to make a team of. */
  export interface AutoGenImport {
    /** The group chat. */
    group_chat_config: { [key: string]: unknown };
    /** Its agents. */
    agents: { [key: string]: unknown }[];
    /** How they talk. */
    conversation_patterns: { [key: string]: unknown }[];
  }

  /** A team as an AutoGen group chat. */
  export interface AutoGenExport {
    /** The team. */
    agentx_team: task.TeamConfig;
    /** The same for AutoGen. */
    autogen_equivalent: { [key: string]: unknown };
    /** Which pattern became what. */
    pattern_mappings: { [key: string]: string };
  }

  /** A team as an AutoGen group chat. */
  export interface AutoGenExport_Input {
    /** The team. */
    agentx_team: task.TeamConfig_Input;
    /** The same for AutoGen. */
    autogen_equivalent: { [key: string]: unknown };
    /** Which pattern became what. */
    pattern_mappings: { [key: string]: string };
  }

  /** A CrewAI crew to make a team of. */
  export interface CrewAIImport {
    /** The crew. */
    crew_config: { [key: string]: unknown };
    /** Its agents. */
    agents: { [key: string]: unknown }[];
    /** Its tasks. */
    tasks: { [key: string]: unknown }[];
    /** Its tools. */
    tools: { [key: string]: unknown }[];
  }

  /** A team as a CrewAI crew. */
  export interface CrewAIExport {
    /** The team. */
    agentx_team: task.TeamConfig;
    /** The same for CrewAI. */
    crewai_equivalent: { [key: string]: unknown };
    /** Which role became what. */
    role_mappings: { [key: string]: string };
  }

  /** A team as a CrewAI crew. */
  export interface CrewAIExport_Input {
    /** The team. */
    agentx_team: task.TeamConfig_Input;
    /** The same for CrewAI. */
    crewai_equivalent: { [key: string]: unknown };
    /** Which role became what. */
    role_mappings: { [key: string]: string };
  }
}

/** Agents, tools and the graphs that join them. */
export namespace graph {
  /** Where a task stands. */
  export type TaskStatus =
    /** Not started yet. */
    | "pending"
    /** At work. */
    | "running"
    /** Done. */
    | "completed"
    /** Ended with an error. */
    | "failed";

  /** A piece of work for an agent. */
  export interface Task {
    /** Id of the task, a UUID of version 4. */
    id: string;
    /** What is to be done. */
    description: string;
    /** Where it stands. */
    status: graph.TaskStatus;
    /** The agent that does it. */
    assigned_agent: string;
    /** What came out. */
    result: string | null;
    /** Why it failed. */
    error: string | null;
    /** When it was made. */
    created_at: string;
    /** When it started. */
    started_at: string | null;
    /** When it ended. */
    completed_at: string | null;
    /** Days its trace is kept. @default 7 */
    retention_days: number;
    /** The task it is a part of. */
    parent_task_id: string | null;
  }

  /** A piece of work for an agent. */
  export interface Task_Input {
    /** Id of the task, a UUID of version 4. */
    id: string;
    /** What is to be done. */
    description: string;
    /** Where it stands. */
    status: graph.TaskStatus;
    /** The agent that does it. */
    assigned_agent: string;
    /** What came out. */
    result?: string | null;
    /** Why it failed. */
    error?: string | null;
    /** When it was made. */
    created_at?: string;
    /** When it started. */
    started_at?: string | null;
    /** When it ended. */
    completed_at?: string | null;
    /** Days its trace is kept. @default 7 */
    retention_days?: number;
    /** The task it is a part of. */
    parent_task_id?: string | null;
  }

  /** Which model an agent speaks with. */
  export interface LLMConfig {
    /** Base URL of the API. */
    endpoint: string;
    /** Name of the model. */
    model: string;
    /** Where the API's key is found; null for an API without one. */
    api_key: string | null;
  }

  /** Which model an agent speaks with. */
  export interface LLMConfig_Input {
    /** Base URL of the API. */
    endpoint: string;
    /** Name of the model. */
    model: string;
    /** Where the API's key is found; null for an API without one. */
    api_key?: string | null;
  }

  /** An agent and the tools it may use. */
  export interface Agent {
    /** Name of the agent, unlike any other's. */
    name: string;
    /** What it is for. */
    role: string;
    /** What its model is told first. */
    system_prompt: string;
    /** Names of the tools it may use. */
    tools: string[];
    /** Rounds of reasoning at most. @default 10 */
    max_iterations: number;
    /** The model it speaks with. */
    llm_config: graph.LLMConfig;
    /** How freely the model chooses its words. @default 0.7 */
    temperature: number;
  }

  /** An agent and the tools it may use. */
  export interface Agent_Input {
    /** Name of the agent, unlike any other's. */
    name: string;
    /** What it is for. */
    role: string;
    /** What its model is told first. */
    system_prompt: string;
    /** Names of the tools it may use. */
    tools: string[];
    /** Rounds of reasoning at most. @default 10 */
    max_iterations?: number;
    /** The model it speaks with. */
    llm_config: graph.LLMConfig_Input;
    /** How freely the model chooses its words. @default 0.7 */
    temperature?: number;
  }

  /** Who says a message. */
  export type MessageRole =
    /** A person. */
    | "user"
    /** The model. */
    | "assistant"
    /** A tool, with its result. */
    | "tool"
    /** The program, with instructions. */
    | "system";

  /** A call of a tool that the model asks for. */
  export interface ToolCall {
    /** Id of the call, a UUID of version 4. */
    id: string;
    /** The server that has the tool. */
    server: string;
    /** Name of the tool. */
    tool: string;
    /** What it is given. @default {} */
    arguments: { [key: string]: unknown };
  }

  /** A call of a tool that the model asks for. */
  export interface ToolCall_Input {
    /** Id of the call, a UUID of version 4. */
    id?: string;
    /** The server that has the tool. */
    server: string;
    /** Name of the tool. */
    tool: string;
    /** What it is given. @default {} */
    arguments?: { [key: string]: unknown };
  }

  /** One message of a conversation. */
  export interface Message {
    /** Who says it. */
    role: graph.MessageRole;
    /** What is said. */
    content: string;
    /** Tools the model asks for. @default [] */
    tool_calls: graph.ToolCall[] | null;
    /** When it was said. */
    timestamp: string;
  }

  /** One message of a conversation. */
  export interface Message_Input {
    /** Who says it. */
    role: graph.MessageRole;
    /** What is said. */
    content: string;
    /** Tools the model asks for. @default [] */
    tool_calls?: graph.ToolCall_Input[] | null;
    /** When it was said. */
    timestamp?: string;
  }

  /** What an agent's run knows; updates add to messages and replace the rest. */
  export interface State {
    /** The conversation so far. */
    messages: graph.Message[];
    /** What is to be done next. */
    next_action: string | null;
    /** The agent at work. */
    current_agent: string;
    /** Picks the way where an edge has several. */
    routing_key: string | null;
    /** Anything else. */
    metadata: { [key: string]: unknown } | null;
  }

  /** What an agent's run knows; updates add to messages and replace the rest. */
  export interface State_Input {
    /** The conversation so far. */
    messages: graph.Message_Input[];
    /** What is to be done next. */
    next_action?: string | null;
    /** The agent at work. */
    current_agent: string;
    /** Picks the way where an edge has several. */
    routing_key?: string | null;
    /** Anything else. */
    metadata?: { [key: string]: unknown } | null;
  }

  /** Something an MCP server can do. */
  export interface Tool {
    /** Name of the tool. */
    name: string;
    /** The server that has it. */
    server: string;
    /** What it does. */
    description: string;
    /** JSON Schema of what it is given. */
    input_schema: { [key: string]: unknown };
    /** JSON Schema of what it gives. */
    output_schema: { [key: string]: unknown } | null;
    /** Ended after this long. @default 300 */
    timeout_seconds: number;
    /** Tools that are tried, in order, when it fails. @default [] */
    fallback_tools: string[] | null;
  }

  /** Something an MCP server can do. */
  export interface Tool_Input {
    /** Name of the tool. */
    name: string;
    /** The server that has it. */
    server: string;
    /** What it does. */
    description: string;
    /** JSON Schema of what it is given. */
    input_schema: { [key: string]: unknown };
    /** JSON Schema of what it gives. */
    output_schema?: { [key: string]: unknown } | null;
    /** Ended after this long. @default 300 */
    timeout_seconds?: number;
    /** Tools that are tried, in order, when it fails. @default [] */
    fallback_tools?: string[] | null;
  }

  /** How an MCP server is spoken to. */
  export type TransportType =
    /** A child process, over its standard input and output. */
    | "stdio"
    /** Over HTTP with server-sent events. */
    | "sse";

  /** How to start a server that is a child process. */
  export interface StdioServerConfig {
    /** The program. */
    command: string;
    /** Its arguments. @default [] */
    args: string[];
    /** Environment variables it gets. @default {} */
    env: { [key: string]: string };
  }

  /** How to start a server that is a child process. */
  export interface StdioServerConfig_Input {
    /** The program. */
    command: string;
    /** Its arguments. @default [] */
    args?: string[];
    /** Environment variables it gets. @default {} */
    env?: { [key: string]: string };
  }

  /** Where to find a server that speaks HTTP. */
  export interface SseServerConfig {
    /** URL of its stream of events. */
    url: string;
  }

  /** How to reach an MCP server, told by the transport beside it. */
  export type ServerConfig =
    | graph.StdioServerConfig
    | graph.SseServerConfig;

  /** How to reach an MCP server, told by the transport beside it. */
  export type ServerConfig_Input =
    | graph.StdioServerConfig_Input
    | graph.SseServerConfig;

  /** An MCP server. */
  export interface MCPServer {
    /** Name of the server, unlike any other's. */
    name: string;
    /** How it is spoken to. */
    transport: graph.TransportType;
    /** How to reach it. */
    config: graph.ServerConfig;
  }

  /** An MCP server. */
  export interface MCPServer_Input {
    /** Name of the server, unlike any other's. */
    name: string;
    /** How it is spoken to. */
    transport: graph.TransportType;
    /** How to reach it. */
    config: graph.ServerConfig_Input;
  }

  /** The file mcp_servers.yaml. */
  export interface MCPServers {
    /** Every server. @default [] */
    servers: graph.MCPServer[];
  }

  /** The file mcp_servers.yaml. */
  export interface MCPServers_Input {
    /** Every server. @default [] */
    servers?: graph.MCPServer_Input[];
  }

  /** Where a sub-agent's session stands. */
  export type SessionStatus =
    /** At work. */
    | "running"
    /** Done. */
    | "completed"
    /** Ended with an error. */
    | "failed";

  /** How worrying a step of a trace is. */
  export type StepStatus =
    /** As it should be. */
    | "info"
    /** Not as it should be, but it went on. */
    | "warning"
    /** It did not go on. */
    | "error";

  /** One call of a tool in a trace. */
  export interface ToolCallRecord {
    /** The server that has the tool. */
    server: string;
    /** Name of the tool. */
    tool: string;
    /** What it was given. @default {} */
    arguments: { [key: string]: unknown };
    /** What it gave. */
    result: { [key: string]: unknown } | null;
    /** Why it failed. */
    error: string | null;
    /** How long it took. */
    duration_ms: number | null;
  }

  /** One call of a tool in a trace. */
  export interface ToolCallRecord_Input {
    /** The server that has the tool. */
    server: string;
    /** Name of the tool. */
    tool: string;
    /** What it was given. @default {} */
    arguments?: { [key: string]: unknown };
    /** What it gave. */
    result?: { [key: string]: unknown } | null;
    /** Why it failed. */
    error?: string | null;
    /** How long it took. */
    duration_ms?: number | null;
  }

  /** One step of a trace. */
  export interface StepRecord {
    /** Name of the step. */
    step_name: string;
    /** What happened. */
    message: string;
    /** When it happened. */
    timestamp: string;
    /** How worrying it is. */
    status: graph.StepStatus;
    /** The agent at work. */
    agent: string | null;
    /** Tools that were called. @default [] */
    tool_calls: graph.ToolCallRecord[];
    /** How long it took. */
    duration_ms: number | null;
  }

  /** One step of a trace. */
  export interface StepRecord_Input {
    /** Name of the step. */
    step_name: string;
    /** What happened. */
    message: string;
    /** When it happened. */
    timestamp?: string;
    /** How worrying it is. */
    status: graph.StepStatus;
    /** The agent at work. */
    agent?: string | null;
    /** Tools that were called. @default [] */
    tool_calls?: graph.ToolCallRecord_Input[];
    /** How long it took. */
    duration_ms?: number | null;
  }

  /** A sub-agent's session as a trace shows it. */
  export interface SubAgentSessionInfo {
    /** Id of the session. */
    session_id: string;
    /** The sub-agent. */
    agent: string;
    /** Messages in it. */
    message_count: number;
    /** Where it stands. */
    status: graph.SessionStatus;
  }

  /** What happened while a task was worked on. */
  export interface TraceLog {
    /** The task. */
    task_id: string;
    /** Its steps, in order. */
    steps: graph.StepRecord[];
    /** Sessions of sub-agents, by name. */
    sub_agent_sessions: { [key: string]: graph.SubAgentSessionInfo };
    /** When the trace was begun. */
    created_at: string;
    /** When something was last added. */
    updated_at: string;
  }

  /** What happened while a task was worked on. */
  export interface TraceLog_Input {
    /** The task. */
    task_id: string;
    /** Its steps, in order. */
    steps: graph.StepRecord_Input[];
    /** Sessions of sub-agents, by name. */
    sub_agent_sessions: { [key: string]: graph.SubAgentSessionInfo };
    /** When the trace was begun. */
    created_at?: string;
    /** When something was last added. */
    updated_at?: string;
  }

  /** A conversation of a sub-agent, apart from its parent's. */
  export interface SubAgentSession {
    /** Id of the session, a UUID of version 4. */
    session_id: string;
    /** The task that asked for it. */
    parent_task_id: string;
    /** The sub-agent. */
    agent_name: string;
    /** What it was asked to do. */
    task_description: string;
    /** Its conversation. */
    message_history: graph.Message[];
    /** What the parent is told of it. */
    summary: string | null;
    /** Where it stands. */
    status: graph.SessionStatus;
    /** When it was begun. */
    created_at: string;
  }

  /** A conversation of a sub-agent, apart from its parent's. */
  export interface SubAgentSession_Input {
    /** Id of the session, a UUID of version 4. */
    session_id: string;
    /** The task that asked for it. */
    parent_task_id: string;
    /** The sub-agent. */
    agent_name: string;
    /** What it was asked to do. */
    task_description: string;
    /** Its conversation. */
    message_history: graph.Message_Input[];
    /** What the parent is told of it. */
    summary?: string | null;
    /** Where it stands. */
    status: graph.SessionStatus;
    /** When it was begun. */
    created_at?: string;
  }

  /** What a node does. */
  export type NodeType =
    /** An agent works. */
    | "agent"
    /** A tool is called. */
    | "tool"
    /** A way is picked. */
    | "condition"
    /** A person is asked. */
    | "human";

  /** One node of a graph. */
  export interface NodeDef {
    /** What it does. */
    type: graph.NodeType;
    /** The agent that works, when type is agent. */
    agent: string | null;
    /** The tool that is called, when type is tool. */
    tool: string | null;
  }

  /** One node of a graph. */
  export interface NodeDef_Input {
    /** What it does. */
    type: graph.NodeType;
    /** The agent that works, when type is agent. */
    agent?: string | null;
    /** The tool that is called, when type is tool. */
    tool?: string | null;
  }

  /** One way from node to node. */
  export interface EdgeDef {
    /** Where it begins. */
    from: string;
    /** Where it ends: a node, or nodes by routing key; __end__ ends the run. */
    to: unknown;
    /** Taken only when this expression is true. */
    condition: string | null;
  }

  /** One way from node to node. */
  export interface EdgeDef_Input {
    /** Where it begins. */
    from: string;
    /** Where it ends: a node, or nodes by routing key; __end__ ends the run. */
    to: unknown;
    /** Taken only when this expression is true. */
    condition?: string | null;
  }

  /** A graph of nodes. */
  export interface Workflow {
    /** Name of the workflow. */
    name: string;
    /** Patterns it is made of, in order, such as react and reflection. */
    patterns: string[];
    /** Its nodes, by name. */
    nodes: { [key: string]: graph.NodeDef };
    /** The ways between them. */
    edges: graph.EdgeDef[];
    /** The node it begins with. */
    entry_point: string;
    /** Nodes where a person may step in. @default [] */
    checkpoints: string[] | null;
    /** Rounds through the graph at most. @default 50 */
    max_iterations: number;
  }

  /** A graph of nodes. */
  export interface Workflow_Input {
    /** Name of the workflow. */
    name: string;
    /** Patterns it is made of, in order, such as react and reflection. */
    patterns: string[];
    /** Its nodes, by name. */
    nodes: { [key: string]: graph.NodeDef_Input };
    /** The ways between them. */
    edges: graph.EdgeDef_Input[];
    /** The node it begins with. */
    entry_point: string;
    /** Nodes where a person may step in. @default [] */
    checkpoints?: string[] | null;
    /** Rounds through the graph at most. @default 50 */
    max_iterations?: number;
  }

  /** The life of a checkpoint. */
  export type CheckpointState =
    /** Written. */
    | "created"
    /** The run stands still until a person answers. */
    | "awaiting_human"
    /** The run has gone on from it. */
    | "resumed";

  /** A task's state at one moment, to go on from. */
  export interface Checkpoint {
    /** Id of the checkpoint, a UUID of version 4. */
    checkpoint_id: string;
    /** The task. */
    task_id: string;
    /** All of its state. */
    state: graph.State;
    /** The node it stood at. */
    position: string;
    /** Its number within the task; later ones have higher numbers. */
    sequence: number;
    /** When it was written. */
    created_at: string;
    /** Whether the task waits for a person. @default false */
    awaiting_human: boolean;
  }

  /** A task's state at one moment, to go on from. */
  export interface Checkpoint_Input {
    /** Id of the checkpoint, a UUID of version 4. */
    checkpoint_id: string;
    /** The task. */
    task_id: string;
    /** All of its state. */
    state: graph.State_Input;
    /** The node it stood at. */
    position: string;
    /** Its number within the task; later ones have higher numbers. */
    sequence: number;
    /** When it was written. */
    created_at?: string;
    /** Whether the task waits for a person. @default false */
    awaiting_human?: boolean;
  }

  /** What a person wants done. */
  export type FeedbackAction =
    /** Go on. */
    | "approve"
    /** Do not go on. */
    | "reject"
    /** Change the state, then go on. */
    | "modify";

  /** A person's answer to a task that waits. */
  export interface HumanFeedback {
    /** What is to be done. */
    action: graph.FeedbackAction;
    /** What the person says to it. */
    message: string | null;
    /** Changes of the state, by field. @default {} */
    state_updates: { [key: string]: unknown } | null;
  }

  /** A person's answer to a task that waits. */
  export interface HumanFeedback_Input {
    /** What is to be done. */
    action: graph.FeedbackAction;
    /** What the person says to it. */
    message?: string | null;
    /** Changes of the state, by field. @default {} */
    state_updates?: { [key: string]: unknown } | null;
  }

  /** The file retention_policy.yaml: how many days what is kept. */
  export interface RetentionPolicy {
    /** What nothing else is said about. @default 7 */
    default_days: number;
    /** By kind of task. @default {"critical": 30, "debug": 3} */
    by_task: { [key: string]: number };
    /** By how the task ended. @default {"completed": 7, "failed": 14} */
    by_status: { [key: string]: number };
  }

  /** The file retention_policy.yaml: how many days what is kept. */
  export interface RetentionPolicy_Input {
    /** What nothing else is said about. @default 7 */
    default_days?: number;
    /** By kind of task. @default {"critical": 30, "debug": 3} */
    by_task?: { [key: string]: number };
    /** By how the task ended. @default {"completed": 7, "failed": 14} */
    by_status?: { [key: string]: number };
  }
}

/**
 * What the front door has of the language: each name of the IR is for programs or an internal, and
 * the two lists are whole.
 */
import * as ir from "@kiln-ml/ir";
import * as kiln from "kiln-ml";
import * as data from "kiln-ml/data";
import * as language from "kiln-ml/ir";
import * as nn from "kiln-ml/nn";
import * as optim from "kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** What passes, importers, layers and printers use; `kiln-ml/ir` has them. */
const internals =
  `Stateful Trace allOps allocateHost ambientUpdates anyInteger applyAtom asFactor asTensor attrKey
  binary bindDims bitcastRecord broadcastInDim broadcastOperands bug bytesOf call captureTrace
  changeSetting checkAxes checkAxis checkList checkNode checkNumbers checkOptions checkRecord
  checkShape checkTensor claimIndices claimOf collectSymbols commonDtype constantIn constantRecord
  constantValueOf convertNumber convertRecord currentScope currentValue dataLeaf dataRecord
  declareData declareParam defineOp divideTerm dotAxes dropAxes dtypeOfArray dtypes erfOf evaluate
  evaluateDim evaluateElement exactQuotient factorCoords flattenNested freeLeavesOf fullDtype
  gradWhereReached hasHostData hasOp hasOwnGradient heldValue hostDataOf ignoringAssignments
  inFloat32 inFull inPlaceOf inScope inferReshape initialValueOf inlineCalls inputRecord
  isShard shardSpecOf specText
  integerPower iotaRecord isDtype isElementwise isFloat isFrozen isHalf isInteger isMovement
  isKept isNonNegative isOp isStatic isTracing isTypedArray keyOfDim kindOf lastNodeId leavesOf lhsFree
  linearIn listToHost loopVar makeNode makeUnique makeValue maxOf maxOfDim mentions minOf minOfDim
  nextKey ofAtom ofOneTerm offsetOf opOf opRecord paramRecord parseDim parseGraph placesOfTrue
  powerOf printAttr printDim printType promote provablyLess randomBitsRecord readSetting
  recordNodes reducedAxes reductionExtents replaceNodes requireAtLeast resultsOf rhsFree
  roundHalfEven roundTo roundedOnce sameShape scanAttrs scanParts scopePath selectRecord setFrozen
  setSiteDepth sizeOf sortAttrs startRecording stopRecording storedForm stridesOf substitute
  sumDtype symbolOf symbolsIn threefry2x32 toHost toShape topologicalOrder traceOf unary
  verifyGraph visible weakDtype widened withOperands withPremises withRegions withRequirements withTaps
  zerosLeaf`.split(/\s+/);

test("every name of the IR is at the front door or an internal", () => {
  const there = Object.keys(ir).filter((name) => !internals.includes(name));
  assert.equal(
    there.filter((name) => !(name in kiln)),
    [],
    "list it in packages/kiln/src/tensors.ts, or here",
  );
});

test("no internal is at the front door, and all are at kiln-ml/ir", () => {
  assert.equal(
    internals.filter((name) => name in kiln),
    [],
  );
  assert.equal(
    internals.filter((name) => !(name in language)),
    [],
  );
});

test("subpaths have what the front door's namespaces have", () => {
  assert.equal(Object.keys(nn), Object.keys(kiln.nn));
  assert.equal(Object.keys(optim), Object.keys(kiln.optim));
  assert.equal(Object.keys(data), Object.keys(kiln.data));
  assert.is(nn.Linear, kiln.nn.Linear);
});

test.run();
